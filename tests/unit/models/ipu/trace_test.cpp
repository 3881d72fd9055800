// SPDX-License-Identifier: MIT
// The events of phases, one by one.
#include "models/ipu/core/trace_producer.h"
#include "tests/support/recording_sink.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>

using namespace tessera;
using test::Events;
using test::RecordingSink;
using traces::Kind;

namespace {

/// Three tiles, all traced, and a compute set, an exchange and a codelet with names.
struct Scene {
    Scene() : sink({true, true, true}), producer(program(), 3, sink, names) {}

    static program::Program program() {
        program::Program made;
        program::ComputeSet set;
        set.name = "work";
        set.tiles = {{0x4c100, {}}, {}, {0x4c100, {}}};
        made.compute_sets.push_back(set);
        made.exchanges.push_back({"bring", {}, {}});
        program::Codelet codelet;
        codelet.symbols = {{"loop", 0x4c200}};
        made.codelets.push_back(codelet);
        return made;
    }
    [[nodiscard]] ipu::Phase phase(Kind kind, Cycles begin, Cycles end, Bytes bytes = 0) const {
        return {.kind = kind,
                .name = 1,
                .role = traces::kUnnamed,
                .begin = begin,
                .end = end,
                .bytes = bytes,
                .step = 7};
    }
    [[nodiscard]] Events of(traces::Track track, Kind kind) const { return sink.of(track, kind); }
    [[nodiscard]] Events of(traces::Counter counter) const { return sink.of(counter); }

    traces::NameTable names;
    RecordingSink sink;
    ipu::TraceProducer producer;
};

const std::array<Cycles, 3> kNoStreams{};

} // namespace

TEST_CASE("counters rise at the begin of a phase and fall to 0 at its end") {
    Scene scene;
    const std::array<ipu::TileShare, 2> shares{{{0, 20}, {2, 30}}};
    scene.producer.phase(scene.phase(Kind::Compute, 100, 130), shares, kNoStreams);
    scene.producer.phase(scene.phase(Kind::Exchange, 150, 180, 640), shares, kNoStreams);
    CHECK(scene.of(traces::Counter::ActiveTiles) == Events{{100, 2}, {130, 0}});
    CHECK(scene.of(traces::Counter::ExchangeBytes) == Events{{150, 640}, {180, 0}});
}

TEST_CASE("a tile works, then streams while its copy lasts, then waits") {
    for (const Cycles until : {0, 99, 100, 120, 121, 125, 130, 131, 500}) {
        Scene scene;
        const std::array<ipu::TileShare, 1> shares{{{1, 20}}};
        scene.producer.phase(scene.phase(Kind::Compute, 100, 130), shares,
                             std::array<Cycles, 3>{0, until, until});
        const auto worked = [&](TileId tile) -> Cycles { return tile == 1 ? 120 : 100; };
        for (const TileId tile : {0U, 1U, 2U}) {
            CAPTURE(until, tile);
            const auto track = traces::tile_track(tile);
            const Cycles streams = tile == 0 ? 100 : std::clamp<Cycles>(until, worked(tile), 130);
            const auto span = [](Cycles begin, Cycles end) {
                return begin < end ? Events{{begin, end}} : Events{};
            };
            CHECK(scene.of(track, Kind::Compute) == span(100, worked(tile)));
            CHECK(scene.of(track, Kind::Stream) == span(worked(tile), streams));
            CHECK(scene.of(track, Kind::Idle) == span(streams, 130));
        }
    }
}

TEST_CASE("a barrier is every tile's") {
    Scene scene;
    scene.producer.barrier(scene.phase(Kind::Sync, 10, 17));
    for (const auto track :
         {traces::machine_track(), traces::tile_track(0), traces::tile_track(2)}) {
        CHECK(scene.of(track, Kind::Sync) == Events{{10, 17}});
    }
}

TEST_CASE("the machine's span of a phase says its step and its lowest slowest tile or bytes") {
    Scene scene;
    const std::array<ipu::TileShare, 3> shares{{{0, 20}, {1, 30}, {2, 30}}};
    scene.producer.phase(scene.phase(Kind::Compute, 0, 30), shares, kNoStreams);
    scene.producer.phase(scene.phase(Kind::Exchange, 30, 60, 12), shares, kNoStreams);
    const auto& compute = scene.sink.spans.at(0);
    CHECK(compute.track == traces::machine_track());
    CHECK(compute.args[0].key == traces::ArgKey::Step);
    CHECK(compute.args[0].value == 7);
    CHECK(compute.args[1].key == traces::ArgKey::SlowestTile);
    CHECK(compute.args[1].value == 1);
    for (const auto& span : scene.sink.spans) {
        if (span.track == traces::machine_track() && span.kind == Kind::Exchange) {
            CHECK(span.args[1].key == traces::ArgKey::Bytes);
            CHECK(span.args[1].value == 12);
        }
    }
}

TEST_CASE("the machine's span of a step says the step's role, whatever its name is") {
    program::Program program;
    program.compute_sets.push_back({"stream", {}, program::Role::Reduce});
    program.exchanges.push_back({"reduce", {}, {}});
    program.stream_copies.push_back({"work", 0, program::StreamCopy::Direction::Read, 1, {}});
    traces::NameTable names;
    RecordingSink sink({true, true, true});
    ipu::TraceProducer producer(program, 3, sink, names);
    for (const auto& [label, word] :
         {std::pair{producer.compute_set(0), "reduce"}, std::pair{producer.exchange(0), "bring"},
          std::pair{producer.stream(0), "stream"}}) {
        CHECK(names.text(label.role) == word);
        ipu::Phase phase;
        phase.name = label.name;
        phase.role = label.role;
        phase.end = 5;
        producer.phase(phase, {}, kNoStreams);
        producer.link_span(traces::link_track(traces::Link::Host, true), phase);
    }
    std::size_t spans = 0;
    for (const auto& span : sink.spans) {
        const bool of_machine = span.track.level == traces::Level::Machine;
        spans += of_machine ? 1 : 0;
        CHECK((span.args[2].key == traces::ArgKey::Role) == of_machine);
    }
    CHECK(spans == 6);
    producer.barrier({.kind = Kind::Sync, .begin = 5, .end = 9});
    CHECK(sink.spans.back().args[2].key == traces::ArgKey::None);
}

TEST_CASE("spans of contexts begin at the first slot and are named by what they enter") {
    Scene scene;
    const std::array<tile::ContextSpan, 3> spans{
        {{-1, 0x4c100, 0, 90}, {0, 0x4c200, 12, 40}, {5, 0x4c300, 17, 41}}};
    scene.producer.contexts(2, 1000, spans);
    REQUIRE(scene.sink.spans.size() == 3);
    CHECK(scene.of(traces::supervisor_track(2), Kind::Compute) == Events{{1000, 1090}});
    CHECK(scene.of(traces::worker_track(2, 0), Kind::Compute) == Events{{1012, 1040}});
    CHECK(scene.of(traces::worker_track(2, 5), Kind::Compute) == Events{{1017, 1041}});
    CHECK(scene.names.text(scene.sink.spans[0].name) == "work");
    CHECK(scene.names.text(scene.sink.spans[1].name) == "loop");
    CHECK(scene.names.text(scene.sink.spans[2].name).empty());
}

TEST_CASE("a link's span lies on its own track") {
    Scene scene;
    const auto track = traces::link_track(traces::Link::Host, false);
    scene.producer.link_span(track, scene.phase(Kind::Stream, 5, 9, 64));
    CHECK(scene.of(track, Kind::Stream) == Events{{5, 9}});
    CHECK(scene.sink.spans[0].args[1].value == 64);
    CHECK(scene.sink.spans[0].args[0].value == 7);
}
