// SPDX-License-Identifier: MIT
#include "models/timing/control_timing.h"
#include "models/timing/exchange_latency.h"
#include "tests/support/gc2.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
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

/// Counts of a route, from the positions alone: how often each parameter is in its latency.
struct RouteCounts {
    Cycles folds = 0; ///< folded columns from receiver to sender
    Cycles steps = 0; ///< columns from the receiver to the sender's turn
    Cycles half = 0;  ///< the sender is in columns 8..15
    Cycles rows = 0;
    Cycles columns =
        0; ///< folded columns along the bus, signed: sub 1 and 3 of a column have the next bus
    bool near = false;
    Cycles inner = 0; ///< of a receiver of sub 2 or 3: one further in
};

RouteCounts counts_of(const TilePosition& from, const TilePosition& to) {
    const auto fold = [](int column) { return std::min(column, 15 - column); };
    const bool from_back = from.column > 7;
    const bool to_back = to.column > 7;
    RouteCounts counts;
    counts.folds = fold(from.column) - fold(to.column);
    counts.half = from_back ? 1 : 0;
    counts.rows = from.row;
    const int place = from_back ? from.column - 8 : from.column;
    counts.steps = (from_back == to_back ? place + 1 : 16 - place) - to.column;
    const bool odd = from.sub % 2 == 1;
    counts.columns = -counts.folds - (from_back != odd ? 1 : 0);
    counts.near = to_back == (to.sub % 2 == 1);
    counts.inner = to.sub / 2;
    return counts;
}

Cycles latency_of(const spec::ExchangeSpec& exchange, const RouteCounts& counts) {
    const Cycles entry = counts.near ? exchange.route_near_cycles + counts.inner
                                     : exchange.route_far_cycles - counts.inner;
    const Cycles along = exchange.route_column_cycles * counts.columns + entry;
    return exchange.route_cycles + (along < 0 ? -along : along) +
           exchange.route_fold_cycles * counts.folds + exchange.route_step_cycles * counts.steps +
           exchange.route_half_cycles * counts.half + exchange.route_row_cycles * counts.rows;
}

struct RouteParameter {
    const char* name;
    Cycles spec::ExchangeSpec::*value;
};

constexpr RouteParameter kRouteParameters[] = {
    {"route_cycles", &spec::ExchangeSpec::route_cycles},
    {"route_row_cycles", &spec::ExchangeSpec::route_row_cycles},
    {"route_column_cycles", &spec::ExchangeSpec::route_column_cycles},
    {"route_near_cycles", &spec::ExchangeSpec::route_near_cycles},
    {"route_far_cycles", &spec::ExchangeSpec::route_far_cycles},
    {"route_fold_cycles", &spec::ExchangeSpec::route_fold_cycles},
    {"route_step_cycles", &spec::ExchangeSpec::route_step_cycles},
    {"route_half_cycles", &spec::ExchangeSpec::route_half_cycles}};

} // namespace

TEST_CASE("each route parameter moves every latency by what it counts", "[timing][exchange]") {
    for (const auto& parameter : kRouteParameters) {
        CAPTURE(parameter.name);
        spec::MachineSpec machine;
        machine.exchange.*parameter.value += 1;
        const ExchangeTiming timing{machine};
        const ExchangeTiming base{spec::MachineSpec{}};
        std::int64_t moved = 0;
        for (TileId from = 0; from < 1472; from += 3) {
            for (TileId to = 0; to < 1472; to += 5) {
                const auto counts =
                    counts_of(timing.grid().position(from), timing.grid().position(to));
                REQUIRE(timing.latency(from, to) == latency_of(machine.exchange, counts));
                REQUIRE(base.latency(from, to) == latency_of(spec::ExchangeSpec{}, counts));
                const Cycles along =
                    machine.exchange.route_column_cycles * counts.columns +
                    (counts.near ? machine.exchange.route_near_cycles + counts.inner
                                 : machine.exchange.route_far_cycles - counts.inner);
                REQUIRE(timing.direction(from, to) == (along <= 0 ? 2U : 1U));
                REQUIRE(timing.way(from, to).mux_offset == timing.mux_offset(from, to));
                REQUIRE(timing.way(from, to).direction == timing.direction(from, to));
                REQUIRE(timing.mux_offset(from, to) ==
                        timing.latency(from, to) - timing.mux_to_pointer(to));
                moved += timing.latency(from, to) != base.latency(from, to) ? 1 : 0;
            }
        }
        CHECK(moved > 10'000);
    }
}

TEST_CASE("members of a pair hear each other's sender from one side over all legal entries",
          "[timing][exchange]") {
    spec::MachineSpec machine;
    machine.chip.tiles = 64;
    auto& exchange = machine.exchange;
    for (exchange.route_column_cycles = 2; exchange.route_column_cycles <= 8;
         ++exchange.route_column_cycles) {
        exchange.route_far_cycles = exchange.route_column_cycles;
        for (exchange.route_near_cycles = 1;
             exchange.route_near_cycles < exchange.route_column_cycles;
             ++exchange.route_near_cycles) {
            exchange.route_far_cycles = exchange.route_near_cycles + 1;
            const ExchangeTiming timing{machine};
            for (TileId from = 0; from < 64; ++from)
                for (TileId to = 0; to < 64; to += 2) {
                    const auto one = timing.way(from, to);
                    const auto two = timing.way(from, to + 1);
                    REQUIRE(std::abs(one.mux_offset - two.mux_offset) == 1);
                    REQUIRE(one.direction == two.direction);
                }
        }
    }
}

TEST_CASE("a run of items takes the full events of its lane and one for the rest",
          "[timing][exchange]") {
    for (const Bytes lane_bytes : {4, 8, 16}) {
        spec::ExchangeSpec exchange;
        exchange.lane_bytes = lane_bytes;
        const LaneTiming lane{exchange};
        CHECK(lane.items() == lane_bytes / 4);
        for (std::int64_t items = 0; items <= 40; ++items) {
            std::int64_t events = 0;
            for (auto left = items; left > 0; left -= lane_bytes / 4)
                ++events;
            REQUIRE(lane.events(items) == events);
        }
    }
}

TEST_CASE("a word's broadcast takes the wait for the nearest mux, the farthest way and the row",
          "[timing][exchange]") {
    spec::MachineSpec machine;
    machine.chip.tiles = 200;
    for (const Cycles mux_to_pointer : {0, 52, 300})
        for (const Cycles route : {0, 21, 500}) {
            machine.exchange.mux_to_pointer_cycles = mux_to_pointer;
            machine.exchange.route_cycles = route;
            const ExchangeTiming timing{machine};
            for (const TileId from : {0U, 57U, 199U}) {
                // Sent at event e it is at a receiver's mux at e + T, which turns at event 1 at the
                // earliest, and with the receiver at e + L.
                Cycles sent = 1;
                Cycles last = 0;
                for (TileId to = 0; to < 200; ++to)
                    if (to != from)
                        while (sent + timing.mux_offset(from, to) < 1)
                            ++sent;
                for (TileId to = 0; to < 200; ++to)
                    if (to != from)
                        last = std::max(last, sent + timing.latency(from, to));
                CHECK(word_broadcast_cycles(machine, from) ==
                      machine.exchange.prologue_cycles + last + machine.exchange.row_tail_cycles +
                          machine.exchange.row_return_cycles);
            }
        }
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
