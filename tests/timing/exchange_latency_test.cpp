// SPDX-License-Identifier: MIT
#include "models/timing/exchange_latency.h"
#include "tests/support/gc2.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <utility>
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

namespace {

/// Cycles of one word from `from` to `to`, device-timed: both rows as short as they can be.
Cycles one_word(const ExchangeTiming& timing, const spec::MachineSpec& machine, TileId from,
                TileId to) {
    const Cycles first_event = 1;
    return std::max(timing.mux_to_pointer(to) + first_event,
                    timing.latency(from, to) + first_event) +
           machine.exchange.row_tail_cycles;
}

} // namespace

TEST_CASE("one word on GC2 takes what was measured there", "[timing][exchange]") {
    // Measured: 59.2 to 94.4 cycles within a column, 2 a row; 156.8 at most, column 8 to column 0.
    // From the right-most to the left-most columns 100.8 at least. docs/models/exchange.md#gc2
    const spec::MachineSpec gc2 = test::gc2_with(1216);
    const ExchangeTiming timing{gc2};
    CHECK(timing.grid().rows() == 19);
    Cycles column_least = 1000;
    Cycles column_most = 0;
    Cycles most = 0;
    std::pair<int, int> longest;
    std::map<std::pair<int, int>, Cycles> least;
    for (TileId from = 0; from < 1216; ++from) {
        for (TileId to = 0; to < 1216; ++to) {
            if (from == to)
                continue;
            const auto& sender = timing.grid().position(from);
            const auto& receiver = timing.grid().position(to);
            const Cycles cycles = one_word(timing, gc2, from, to);
            if (sender.column == receiver.column) {
                column_least = std::min(column_least, cycles);
                column_most = std::max(column_most, cycles);
            }
            const std::pair columns{sender.column, receiver.column};
            least[columns] = least.contains(columns) ? std::min(least[columns], cycles) : cycles;
            if (cycles > most) {
                most = cycles;
                longest = columns;
            }
        }
    }
    CHECK(static_cast<double>(column_least) == Approx(59.2).epsilon(0.02));
    CHECK(column_most == column_least + 2 * 18);
    CHECK(static_cast<double>(column_most) == Approx(94.4).epsilon(0.02));
    CHECK(static_cast<double>(most) == Approx(156.8).epsilon(0.05));
    CHECK(longest == std::pair(8, 0));
    // Columns fold: 7 and 8 are at one end, 0 and 15 at the other.
    CHECK(static_cast<double>(least[{7, 0}]) == Approx(100.8).epsilon(0.02));
    CHECK(least[{7, 15}] == least[{8, 15}]);
    CHECK(least[{7, 15}] < least[{7, 0}]);
    CHECK(least[{7, 0}] < least[{8, 0}]);
}
