// SPDX-License-Identifier: MIT
#include "traces/event.h"

#include <catch2/catch.hpp>

#include <string>

using namespace tessera;
using namespace tessera::traces;

TEST_CASE("kinds and levels have the words of the results and options", "[unit][traces]") {
    CHECK(word(Kind::Compute) == "compute");
    CHECK(word(Kind::Exchange) == "exchange");
    CHECK(word(Kind::Sync) == "sync");
    CHECK(word(Kind::Stream) == "stream");
    CHECK(word(Kind::Idle) == "idle");
    CHECK(word(Kind::Link) == "link");
    CHECK(word(Level::Machine) == "machine");
    CHECK(word(Level::Worker) == "worker");
}

TEST_CASE("a track is named by its path", "[unit][traces]") {
    CHECK(path(machine_track()) == "machine");
    CHECK(path(tile_track(12)) == "tile_12");
    CHECK(path(worker_track(12, 3)) == "tile_12.worker_3");
    CHECK(path(supervisor_track(12)) == "tile_12.supervisor");
    CHECK(path(link_track(false, 3)) == "link.to_ipu_3");
    CHECK(path(link_track(true, 12)) == "link.from_ipu_12");
    CHECK(name_of(CounterSample{Counter::EdgeBytes, 0, 0, 0, 3}) == "edge.to_ipu_3");
    CHECK(name_of(CounterSample{Counter::MemoryBytes}) == "memory_bytes");
}

TEST_CASE("a name table gives equal texts one id and keeps every text", "[unit][traces]") {
    NameTable names;
    const auto matmul = names.intern("matmul");
    CHECK(matmul != kUnnamed);
    // Enough names for the containers inside to grow several times.
    for (int i = 0; i < 1000; ++i) {
        names.intern("step_" + std::to_string(i));
    }
    CHECK(names.intern("matmul") == matmul);
    CHECK(names.intern("step_999") == matmul + 1000);
    CHECK(names.text(matmul) == "matmul");
    CHECK(names.text(matmul + 1000) == "step_999");
    CHECK(names.text(kUnnamed).empty());
}

TEST_CASE("the null sink wants nothing", "[unit][traces]") {
    const NullSink sink;
    CHECK_FALSE(sink.wants(machine_track()));
    CHECK_FALSE(sink.wants(tile_track(0)));
    CHECK_FALSE(sink.wants_counters());
}
