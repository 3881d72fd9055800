// SPDX-License-Identifier: MIT
#include "models/timing/exchange_latency.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace tessera;
using namespace tessera::timing;

TEST_CASE("mux offsets reproduce the published vectors", "[timing][exchange]") {
    const ExchangeTiming timing{spec::MachineSpec{}};
    CHECK(timing.mux_offset(736, 100) == 49);
    CHECK(timing.latency(736, 100) == 109);
    CHECK(timing.direction(736, 100) == 2);
    CHECK(timing.mux_offset(0, 1286) == -23);
    CHECK(timing.mux_offset(0, 274) == -23);
    CHECK(timing.mux_offset(32, 0) == 3);
    CHECK(timing.mux_offset(0, 2) == -31);
    CHECK(timing.mux_offset(0, 3) == -30);
    CHECK(timing.direction(0, 2) == 1);
}

TEST_CASE("latencies over all ordered pairs have the published statistics", "[timing][exchange]") {
    const ExchangeTiming timing{spec::MachineSpec{}};
    std::vector<Cycles> latencies;
    Cycles least_offset = 0;
    Cycles most_offset = 0;
    std::int64_t sum = 0;
    for (TileId from = 0; from < 1472; ++from) {
        for (TileId to = 0; to < 1472; ++to) {
            if (from == to)
                continue;
            latencies.push_back(timing.latency(from, to));
            sum += latencies.back();
            least_offset = std::min(least_offset, timing.mux_offset(from, to));
            most_offset = std::max(most_offset, timing.mux_offset(from, to));
        }
    }
    std::sort(latencies.begin(), latencies.end());
    const auto at = [&](std::size_t percent) {
        return latencies[latencies.size() * percent / 100];
    };
    CHECK(latencies.front() == 18);
    CHECK(at(5) == 31);
    CHECK(at(50) == 62);
    CHECK(at(95) == 108);
    CHECK(latencies.back() == 164);
    CHECK(sum / static_cast<std::int64_t>(latencies.size()) == 64);
    CHECK(least_offset == -78);
    CHECK(most_offset == 112);
}

TEST_CASE("members of a pair differ by one mux event and never in direction",
          "[timing][exchange]") {
    const ExchangeTiming timing{spec::MachineSpec{}};
    for (TileId from = 0; from < 1472; ++from) {
        for (TileId to = 0; to < 1472; to += 2) {
            if (from / 2 == to / 2)
                continue;
            const auto difference = timing.mux_offset(from, to) - timing.mux_offset(from, to + 1);
            REQUIRE((difference == 1 || difference == -1));
            REQUIRE(timing.direction(from, to) == timing.direction(from, to + 1));
        }
    }
}

TEST_CASE("the mux distance moves the mux offset and not the latency", "[timing][exchange]") {
    spec::MachineSpec machine;
    const ExchangeTiming base{machine};
    machine.exchange.mux_to_pointer_cycles += 3;
    machine.exchange.mux_to_pointer_row_cycles += 1;
    const ExchangeTiming moved{machine};
    const auto row = base.grid().position(100).row;
    CHECK(moved.mux_offset(736, 100) == base.mux_offset(736, 100) - 3 - row);
    CHECK(moved.mux_to_pointer(100) == base.mux_to_pointer(100) + 3 + row);
    CHECK(moved.latency(736, 100) == base.latency(736, 100));
}
