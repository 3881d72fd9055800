// SPDX-License-Identifier: MIT
// Planned exchanges reach their bound: the longest row takes at most 1.10 x bound or bound + 200.
#include "kernels/exchange_plan/exchange_planner.h"
#include "models/timing/exchange_bound.h"
#include "tests/support/exchange_patterns.h"
#include "tests/support/gc2.h"
#include "tests/unit/models/exchange/support.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace tessera;
using namespace tessera::exchange_patterns;

namespace {

template <typename Make>
void check_reaches_bound(const spec::MachineSpec& machine, Bytes bytes, Make make) {
    const auto tiles = machine.chip.tiles;
    Layout layout{machine};
    make(layout);
    auto transfers = layout.take();
    if (!transfers || transfers->empty())
        return; // larger than the tiles' memories
    auto plan = exchange_plan::plan_exchange_with_stats(machine, "x", std::move(*transfers));
    const auto outcome = exchange_test::execute(machine, plan.exchange);
    const auto cycles = *std::max_element(outcome.row_cycles.begin(), outcome.row_cycles.end());
    const auto bound = timing::exchange_bound(machine, plan.exchange.transfers).cycles();
    CAPTURE(tiles, bytes, cycles, bound);
    CHECK(bound == plan.stats.bound.cycles());
    CHECK(cycles >= bound);
    CHECK(cycles <= std::max(static_cast<Cycles>(1.10 * static_cast<double>(bound)), bound + 200));
}

template <typename Make>
void check_reaches_bound(std::int64_t tiles, Bytes bytes, Make make, Bytes lane_bytes = 4) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    machine.exchange.lane_bytes = lane_bytes;
    check_reaches_bound(machine, bytes, make);
}

} // namespace

TEST_CASE("patterns reach their bound", "[exchange][bound]") {
    for (const std::int64_t tiles : {100, 1216, 1472})
        for (const Bytes n : {64, 4096}) {
            check_reaches_bound(tiles, n, [=](auto& to) { broadcast(to, n, 1, true); });
            check_reaches_bound(tiles, n, [=](auto& to) { broadcast(to, n, 1, false); });
            check_reaches_bound(tiles, n, [=](auto& to) { gather(to, n); });
            check_reaches_bound(tiles, n / 16, [=](auto& to) { scatter(to, n / 16); });
            check_reaches_bound(tiles, n, [=](auto& to) { transpose(to, n); });
            check_reaches_bound(tiles, n, [=](auto& to) { random_permutations(to, n, 1); });
            check_reaches_bound(tiles, n, [=](auto& to) { random_pairs(to, n, n, 2); });
            check_reaches_bound(tiles, n, [=](auto& to) { shift(to, n, 7); });
            check_reaches_bound(tiles, n, [=](auto& to) { halo(to, n, 4); });
            check_reaches_bound(tiles, n, [=](auto& to) { halves(to, n); });
            check_reaches_bound(tiles, n, [=](auto& to) { all_to_all(to, n, 16); });
        }
}

TEST_CASE("an all-to-all of few tiles reaches its bound", "[exchange][bound]") {
    for (const std::int64_t tiles : {4, 16, 64, 100, 300})
        for (const Bytes n : {4, 8, 20, 64, 256, 4096})
            check_reaches_bound(tiles, n,
                                [=](auto& to) { all_to_all(to, n, static_cast<TileId>(tiles)); });
}

TEST_CASE("an all-to-all of some tiles of a chip reaches its bound", "[exchange][bound]") {
    for (const auto& [count, stride] :
         {std::pair{5U, 1U}, {7U, 1U}, {100U, 1U}, {100U, 14U}, {201U, 3U}})
        for (const Bytes n : {4, 32, 512, 4096})
            check_reaches_bound(1472, n, [n = n, count = count, stride = stride](auto& to) {
                all_to_all_among(to, n, count, stride);
            });
}

TEST_CASE("all-gathers and broadcasts from many tiles reach their bound", "[exchange][bound]") {
    for (const Bytes n : {16, 64, 1024}) {
        for (const TileId group : {16U, 32U})
            for (const bool strided : {false, true})
                check_reaches_bound(1472, n, [=](auto& to) { all_gather(to, n, group, strided); });
        check_reaches_bound(1472, n, [=](auto& to) { broadcast(to, n, 16, false); });
    }
}

TEST_CASE("a broadcast to near and far tiles is shorter where far ones may be first",
          "[exchange][bound]") {
    auto machine = test::gc2_with(1216);
    machine.exchange.pair_double = false;
    for (const Bytes n : {4, 64, 1024, 4096}) {
        const auto row_events = [&] {
            Layout layout{machine};
            broadcast(layout, n, 1, false);
            return exchange_plan::plan_exchange_with_stats(machine, "x", *layout.take())
                .stats.longest_row_events;
        };
        machine.exchange.far_first = false;
        const auto at_once = row_events();
        machine.exchange.far_first = true;
        CAPTURE(n, at_once);
        CHECK(row_events() < at_once);
        check_reaches_bound(machine, n, [=](auto& to) { broadcast(to, n, 1, false); });
    }
}

TEST_CASE("patterns reach their bound on wider lanes", "[exchange][bound]") {
    for (const Bytes lane : {8, 16})
        for (const Bytes n : {20, 4096}) {
            check_reaches_bound(
                1472, n, [=](auto& to) { broadcast(to, n, 1, true); }, lane);
            check_reaches_bound(
                100, n, [=](auto& to) { gather(to, n); }, lane);
            check_reaches_bound(
                1472, n, [=](auto& to) { transpose(to, n); }, lane);
            check_reaches_bound(
                1472, n, [=](auto& to) { random_pairs(to, n, n, 2); }, lane);
            check_reaches_bound(
                1472, n, [=](auto& to) { halo(to, n, 4); }, lane);
            check_reaches_bound(
                1472, n, [=](auto& to) { all_to_all(to, n, 16); }, lane);
            check_reaches_bound(
                1472, n, [=](auto& to) { all_gather(to, n, 16, true); }, lane);
        }
}

TEST_CASE(
    "a wide message takes its sender's lane and that of the partner, or one of them for longer",
    "[exchange][bound]") {
    using exchange_test::transfer;
    const spec::MachineSpec machine;
    constexpr Cycles kItems = 64;
    constexpr Cycles kWords = 40;
    const auto wide = transfer(0, 0x50000, 8 * kItems, {{2, 0x60000}, {3, 0x60000}}, true);
    for (const TileId sender : {0U, 1U, 4U}) {
        CAPTURE(sender);
        const auto bound = timing::exchange_bound(
            machine, std::vector{wide, transfer(sender, 0x70000, 4 * kWords, {{9, 0x60000}})});
        // Behind a message of its partner the wide one can go by single words: the lanes of the pair have the mean.
        const Cycles of_pair = (2 * kItems + kWords) / 2;
        CHECK(bound.events_out == (sender == 0 ? kItems + kWords : sender == 1 ? of_pair : kItems));
        CHECK(bound.events_in == kItems);
    }
}

TEST_CASE("transfers are one run where the next continues the last in everything",
          "[exchange][bound]") {
    const spec::MachineSpec machine;
    const Address from = machine.memory.region0_begin();
    const Address to = from + 0x1000;
    constexpr Bytes kBytes = 64;
    constexpr auto kBehind = static_cast<Address>(kBytes);
    const program::Transfer first{0, from, kBytes, true, {{4, to}, {5, to}}};
    program::Transfer next{0, from + kBehind, kBytes, true, {{4, to + kBehind}, {5, to + kBehind}}};
    const auto runs = [&] {
        const auto made = timing::transfer_runs(machine, std::vector{first, next});
        Bytes bytes = 0;
        for (const auto& run : made) {
            bytes += run.bytes;
        }
        CHECK(bytes == 2 * kBytes);
        return made.size();
    };
    CHECK(runs() == 1);
    const program::Transfer good = next;
    next.source_tile = 1;
    CHECK(runs() == 2);
    next = good;
    next.paired = false;
    CHECK(runs() == 2);
    next = good;
    next.source_address += 4;
    CHECK(runs() == 2);
    next = good;
    next.destinations.pop_back();
    CHECK(runs() == 2);
    next = good;
    next.destinations[1].tile = 7;
    CHECK(runs() == 2);
    next = good;
    next.destinations[1].address -= 4;
    CHECK(runs() == 2);
}
