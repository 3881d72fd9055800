// SPDX-License-Identifier: MIT
// Muxes that let through parts of what is sent, beside a count of single items: an item that is sent
// at an event reaches the mux a fixed number of events later and passes if the mux then stands on
// its sender.
#include "models/exchange/core/arrival.h"
#include "models/timing/exchange_latency.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::exchange;

namespace {

constexpr TileId kSenders[] = {0, 4};
constexpr TileId kPair = 2;

class Random {
public:
    explicit Random(unsigned seed) : random_(seed) {}
    std::int64_t operator()(std::int64_t first, std::int64_t last) {
        return std::uniform_int_distribution<std::int64_t>{first, last}(random_);
    }

private:
    std::mt19937 random_;
};

struct Item {
    Cycles event = 0;
    TileId source = 0;
    Address address = 0;

    bool operator==(const Item&) const = default;
};

/// Runs without an event between them, from random addresses.
std::vector<SendRun> random_runs(const timing::LaneTiming& lane, Random& random, bool wide,
                                 unsigned direction) {
    std::vector<SendRun> runs;
    Event event = static_cast<Event>(random(200, 210));
    for (auto many = random(1, 6); many > 0; --many) {
        runs.push_back({event, static_cast<std::int32_t>(random(1, 40)),
                        static_cast<Address>(0x50000 + 8 * random(0, 1000)),
                        direction | (wide ? 4U : 0U)});
        event = static_cast<Event>(runs.back().last_event(lane) + 1);
    }
    return runs;
}

RowWalk walk_of(TileId tile, std::vector<SendRun> sends = {}) {
    RowWalk walk;
    walk.tile = tile;
    walk.events = 1000;
    walk.sends = std::move(sends);
    return walk;
}

} // namespace

TEST_CASE("a mux lets through the items of its events, of whichever part of a message",
          "[unit][exchange]") {
    int from_the_middle = 0;
    for (const Bytes lane_bytes : {4, 8, 16}) {
        spec::MachineSpec machine;
        machine.exchange.lane_bytes = lane_bytes;
        machine.exchange.pair_min_items = 1;
        const timing::ExchangeTiming timing(machine);
        const auto& lane = timing.lane();
        Random random(static_cast<unsigned>(lane_bytes));
        const TileId early =
            timing.mux_offset(kSenders[0], kPair) < timing.mux_offset(kSenders[0], kPair + 1)
                ? kPair
                : kPair + 1;
        const TileId late = kPair + (kPair + 1) - early;
        for (int round = 0; round < 100; ++round) {
            const bool wide = random(0, 1) == 0;
            CAPTURE(lane_bytes, round, wide);
            std::vector<RowWalk> walks;
            for (const TileId tile : kSenders) {
                walks.push_back(
                    walk_of(tile, random_runs(lane, random, wide, timing.direction(tile, kPair))));
            }
            walks.push_back(walk_of(early));
            walks.push_back(walk_of(late));

            std::vector<Item> expected;
            Cycles free = 0; // of the receiver's mux
            for (auto many = random(1, 4); many > 0; --many) {
                const auto& from = walks[static_cast<std::size_t>(random(0, 1))];
                const Cycles offset = timing.mux_offset(from.tile, early);
                const Cycles first = from.sends.front().first_event + offset;
                const Cycles last = from.sends.back().last_event(lane) + offset;
                const Cycles begin = std::max(free, random(first, last));
                if (begin > last) {
                    continue;
                }
                const Cycles end = random(begin, last) + 1;
                free = end + 10;
                const auto id_of = [&](TileId tile) {
                    return timing.grid().position(tile).physical_id;
                };
                auto& muxes = walks[2].muxes;
                muxes.push_back({static_cast<Event>(begin), wide,
                                 id_of(from.tile) ^ (wide ? id_of(early) & 2U : 0U)});
                muxes.push_back({static_cast<Event>(end), wide, timing::neutral_source(machine)});
                const Cycles depth =
                    timing.mux_to_pointer(early) +
                    (wide ? timing.mux_offset(from.tile, late) - offset : Cycles{0});
                for (const auto& run : from.sends) {
                    for (std::int64_t i = 0; i < run.items; ++i) {
                        const Cycles at_mux = run.first_event + i / lane.items() + offset;
                        if (begin <= at_mux && at_mux < end) {
                            const auto bytes = static_cast<Address>(i * run.item_bytes());
                            expected.push_back({at_mux + depth, from.tile, run.address + bytes});
                            from_the_middle += at_mux == begin && i >= lane.items() ? 1 : 0;
                        }
                    }
                }
            }

            const Phase phase(machine, "x", walks);
            PairArrivals arrivals(timing.grid().pair_bit());
            arrivals.find(phase, kPair);
            const auto items_of = [&](TileId tile) {
                std::vector<Item> items;
                for (const auto& arrival : arrivals.of(tile)) {
                    CHECK(arrival.format == (wide ? timing.direction(arrival.source, kPair) : 0U));
                    CHECK(arrival.events == lane.events(arrival.items));
                    for (std::int64_t i = 0; i < arrival.items; ++i) {
                        const auto bytes = static_cast<Address>(i * arrival.item_bytes());
                        items.push_back({arrival.first_event + i / lane.items(), arrival.source,
                                         arrival.source_address + bytes});
                    }
                }
                return items;
            };
            CHECK(items_of(early) == expected);
            CHECK(items_of(late) == (wide ? expected : std::vector<Item>{}));
        }
    }
    CHECK(from_the_middle > 100);
}
