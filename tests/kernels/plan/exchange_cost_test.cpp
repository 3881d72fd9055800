// SPDX-License-Identifier: MIT
#include "kernels/plan/exchange_cost.h"
#include "kernels/plan/homes.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/workload/random.h"
#include "models/timing/exchange_latency.h"
#include "models/timing/tile_position.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <tuple>
#include <vector>

namespace {

using namespace tessera;

using Dealt = std::vector<std::tuple<std::size_t, std::int64_t, std::int64_t, TileId>>;

Dealt values_of(const std::vector<plan::Home>& homes) {
    Dealt values;
    for (const plan::Home& home : homes) {
        values.emplace_back(home.group, home.first, home.last, home.tile);
    }
    return values;
}

} // namespace

TEST_CASE("without a schedule words go a third of each side of the grid, or part of the ring",
          "[kernels][plan]") {
    for (const std::int64_t tiles : {1, 64, 65, 200, 1472}) {
        for (const Cycles hop : {1, 5}) {
            spec::MachineSpec machine;
            machine.chip.tiles = tiles;
            machine.exchange.hop_cycles = hop;
            machine.exchange.fabric = spec::Fabric::Mesh;
            const Cycles mesh =
                machine.exchange.prologue_cycles + hop * (64 + (tiles + 63) / 64) / 3;
            for (const std::int64_t to : {std::int64_t{1}, tiles, 2 * tiles}) {
                CHECK(plan::ExchangeCost(machine).to_neighbours(to) == mesh);
                CHECK(plan::ExchangeCost(machine).to_all_over(to) == mesh);
            }
            machine.exchange.fabric = spec::Fabric::Ring;
            for (const std::int64_t directions : {1, 2}) {
                machine.exchange.ring_directions = directions;
                const Cycles ring =
                    machine.exchange.prologue_cycles + hop * tiles / (2 * directions);
                CHECK(plan::ExchangeCost(machine).to_neighbours(tiles) == ring);
                CHECK(plan::ExchangeCost(machine).to_all_over(tiles) == ring);
            }
            machine.exchange.fabric = spec::Fabric::Bound;
            CHECK(plan::ExchangeCost(machine).to_all_over(tiles) == 0);
        }
    }
}

TEST_CASE("on the compiled fabric the cost of an exchange is that of all its ways",
          "[kernels][plan]") {
    for (const std::int64_t tiles : {1, 2, 3, 66, 131}) {
        CAPTURE(tiles);
        spec::MachineSpec machine;
        machine.chip.tiles = tiles;
        const timing::ExchangeTiming timing(machine);
        const plan::ExchangeCost cost(machine);
        const Cycles fixed = machine.exchange.prologue_cycles + machine.exchange.row_return_cycles +
                             machine.exchange.row_tail_cycles;
        const auto count = static_cast<std::size_t>(tiles);
        std::vector<Cycles> start(count);
        std::vector<Cycles> farthest(count);
        Cycles neighbours = 0;
        Cycles slowest = 0;
        for (TileId to = 0; to < tiles; ++to) {
            const Cycles mux = timing.mux_to_pointer(to);
            Cycles sum = 0;
            for (TileId from = 0; from < tiles; ++from) {
                if (from != to) {
                    const Cycles latency = timing.latency(from, to);
                    sum += std::max(mux, latency);
                    start[from] = std::max(start[from], mux - latency);
                    farthest[from] = std::max(farthest[from], latency);
                    slowest = std::max(slowest, start[from] + farthest[from]);
                }
            }
            neighbours = std::max(neighbours, tiles == 1 ? mux : sum / (tiles - 1));
            REQUIRE(cost.to_neighbours(to + 1) == fixed + neighbours);
            REQUIRE(cost.to_all_over(to + 1) == fixed + std::max(slowest, neighbours));
        }
        CHECK(cost.to_neighbours(0) == cost.to_neighbours(1));
        CHECK(cost.to_neighbours(tiles + 1) == cost.to_neighbours(tiles));
        CHECK(cost.to_all_over(tiles + 1) == cost.to_all_over(tiles));
    }
}

TEST_CASE("homes are dealt unit by unit, to tiles that do not receive as long as there are any",
          "[kernels][plan]") {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        CAPTURE(seed);
        const workload::CounterRandom random(seed, 13);
        std::uint64_t drawn = 0;
        const auto below = [&](std::uint32_t bound) {
            return static_cast<std::uint32_t>(random.below(bound, drawn++));
        };
        std::vector<std::int64_t> units;
        for (std::uint32_t group = 1 + below(4); group > 0; --group) {
            units.push_back(below(20));
        }
        std::vector<TileId> tiles;
        for (std::uint32_t tile = 1 + below(8); tile > 0; --tile) {
            tiles.push_back(3 * tile);
        }
        const std::int64_t share = below(7);
        const std::uint32_t shift = below(5);
        const auto receives = [&](TileId tile, std::size_t group) {
            return (tile / 3 + shift) % 3 == group % 3;
        };
        std::int64_t all = 0;
        for (const std::int64_t one : units) {
            all += one;
        }
        const auto count = static_cast<std::int64_t>(tiles.size());
        const std::int64_t capacity = std::max(share, (all + count - 1) / count);
        std::vector<std::pair<TileId, std::int64_t>> rooms;
        for (std::size_t i = 0; i < tiles.size(); ++i) {
            rooms.emplace_back(tiles[(i + tiles.size() / 2) % tiles.size()], capacity);
        }
        Dealt expected;
        for (std::size_t group = 0; group < units.size(); ++group) {
            for (std::int64_t unit = 0; unit < units[group]; ++unit) {
                const auto find = [&](bool any) {
                    return std::find_if(rooms.begin(), rooms.end(), [&](const auto& room) {
                        return room.second > 0 && (any || !receives(room.first, group));
                    });
                };
                auto room = find(false);
                room = room == rooms.end() ? find(true) : room;
                REQUIRE(room != rooms.end());
                --room->second;
                if (!expected.empty() && std::get<0>(expected.back()) == group &&
                    std::get<3>(expected.back()) == room->first) {
                    ++std::get<2>(expected.back());
                } else {
                    expected.emplace_back(group, unit, unit + 1, room->first);
                }
            }
        }
        REQUIRE(values_of(plan::deal_homes(units, tiles, share, receives)) == expected);
    }
}

TEST_CASE("messages of a group stand on the pairs of the next one, in equal parts",
          "[kernels][plan]") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const workload::CounterRandom random(seed, 14);
        std::uint64_t drawn = 0;
        const auto below = [&](std::uint32_t bound) {
            return static_cast<std::uint32_t>(random.below(bound, drawn++));
        };
        std::vector<std::int64_t> units;
        std::vector<std::vector<TileId>> receivers;
        for (std::uint32_t group = 2 + below(3); group > 0; --group) {
            units.push_back(1 + below(30));
            auto& own = receivers.emplace_back();
            for (TileId pair = 0, pairs = 1 + below(4); pair < pairs; ++pair) {
                own.push_back(100 * group + 2 * pair);
                own.push_back(100 * group + 2 * pair + 1);
            }
        }
        const std::int64_t shortest = 1 + below(6);
        const std::int64_t member = below(2);
        Dealt expected;
        for (std::size_t group = 0; group < units.size(); ++group) {
            const auto& next = receivers[(group + 1) % units.size()];
            std::int64_t messages = 1;
            while (2 * (messages + 1) <= static_cast<std::int64_t>(next.size()) &&
                   (messages + 1) * shortest <= units[group]) {
                ++messages;
            }
            for (std::int64_t i = 0; i < messages; ++i) {
                expected.emplace_back(group, i * units[group] / messages,
                                      (i + 1) * units[group] / messages,
                                      next[static_cast<std::size_t>(2 * i + member)]);
            }
        }
        CAPTURE(seed);
        REQUIRE(values_of(plan::deal_to_next_group(units, receivers, shortest, member)) ==
                expected);
    }
}

TEST_CASE("work is cut as seldom as its limit lets it, into about equal parts", "[kernels][plan]") {
    for (std::int64_t most = 1; most <= 9; ++most) {
        for (std::int64_t units = 0; units <= 40; ++units) {
            CAPTURE(most, units);
            std::int64_t cuts = 0;
            while (cuts * most < units) {
                ++cuts;
            }
            CHECK(plan::cuts_of(units, most) == cuts);
            std::int64_t next = 0;
            std::int64_t made = 0;
            plan::for_cuts(units, most, [&](std::int64_t first, std::int64_t count) {
                CHECK(first == next);
                CHECK(count <= most);
                CHECK(count >= units / cuts);
                CHECK(count <= (units + cuts - 1) / cuts);
                next += count;
                ++made;
            });
            CHECK(next == units);
            CHECK(made == cuts);
        }
    }
}
