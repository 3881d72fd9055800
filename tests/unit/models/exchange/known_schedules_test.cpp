// SPDX-License-Identifier: MIT
// Messages that come again elsewhere are not scheduled again, and get the rows that they would have got by themselves.
#include "kernels/exchange_plan/exchange_planner.h"
#include "kernels/exchange_plan/known_schedules.h"
#include "tests/unit/models/exchange/random_transfers.h"

#include <catch2/catch.hpp>

#include <functional>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::exchange_test;

namespace {

using Transfers = std::vector<program::Transfer>;

Transfers elsewhere(Transfers transfers, Address sends, Address receives) {
    for (auto& transfer : transfers) {
        transfer.source_address += sends;
        for (auto& to : transfer.destinations)
            to.address += receives;
    }
    return transfers;
}

/// Whether planning with and without `known` says the same.
bool same_plan(const spec::MachineSpec& machine, const Transfers& transfers,
               exchange_plan::KnownSchedules& known) {
    const auto by_itself = exchange_plan::plan_exchange_with_stats(machine, "one", transfers);
    const auto again = exchange_plan::plan_exchange_with_stats(machine, "one", transfers, &known);
    const auto& one = by_itself.exchange.rows;
    const auto& other = again.exchange.rows;
    return again.stats.longest_row_events == by_itself.stats.longest_row_events &&
           again.stats.wide_messages == by_itself.stats.wide_messages &&
           again.stats.words_sent == by_itself.stats.words_sent &&
           std::equal(
               one.begin(), one.end(), other.begin(), other.end(),
               [](const auto& a, const auto& b) { return a.tile == b.tile && a.words == b.words; });
}

spec::MachineSpec machine_of(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

/// A wide message of tile 0 to tiles 2 and 3, and one of tile 4 to tile 2.
Transfers two_messages(const spec::MachineSpec& machine) {
    const Address from = machine.memory.region1_begin();
    const Address to = from + 0x20000;
    Transfers transfers(2);
    transfers[0] = {.source_tile = 0,
                    .source_address = from,
                    .bytes = 512,
                    .paired = true,
                    .destinations = {{2, to}, {3, to}}};
    transfers[1] = {
        .source_tile = 1, .source_address = from, .bytes = 8, .destinations = {{2, to + 1024}}};
    return transfers;
}

} // namespace

TEST_CASE("what comes again elsewhere has the rows that it would have by itself", "[exchange]") {
    const std::vector<Pattern> patterns = {
        {.tiles = 4, .transfers = 20, .max_receivers = 1},
        {.tiles = 64, .transfers = 200, .max_receivers = 1, .max_words = 20, .paired_percent = 0},
        {.tiles = 64, .transfers = 100, .max_receivers = 8},
    };
    std::size_t found = 0;
    for (const auto& pattern : patterns) {
        const auto machine = machine_of(pattern.tiles);
        for (unsigned seed = 1; seed <= 12; ++seed) {
            CAPTURE(pattern.tiles, pattern.max_receivers, seed);
            const auto transfers = RandomTransfers{machine, pattern, seed}.make();
            exchange_plan::KnownSchedules known;
            CHECK(same_plan(machine, transfers, known));
            CHECK(known.found() == 0);
            CHECK(same_plan(machine, elsewhere(transfers, 0, 0x8000), known));
            CHECK(same_plan(machine, elsewhere(transfers, 8, 0x1000), known));
            found += known.found();
        }
    }
    CHECK(found == 2 * 12 * patterns.size());
}

TEST_CASE("messages that were taken apart are known elsewhere, in the same parts", "[exchange]") {
    for (const bool far_first : {false, true}) {
        auto machine = machine_of(64);
        machine.exchange.far_first = far_first;
        // every tile of the first half sends to all of the second
        Transfers transfers;
        const Address from = machine.memory.region1_begin();
        for (TileId tile = 0; tile < 32; ++tile) {
            auto& transfer = transfers.emplace_back();
            transfer.source_tile = tile;
            transfer.source_address = from + 8 * tile;
            transfer.bytes = 4 + 4 * (tile % 3);
            for (TileId to = 32; to < 64; to += 1 + tile % 2)
                transfer.destinations.push_back({to, from + 0x20000 + 16 * tile});
        }
        exchange_plan::KnownSchedules known;
        CHECK(same_plan(machine, transfers, known));
        CHECK(known.found() == 0);
        CHECK(same_plan(machine, elsewhere(transfers, 8, 0x8000), known));
        CHECK(same_plan(machine, elsewhere(transfers, 0x1000, 0x10), known));
        CHECK(known.found() == 2);
    }
}

TEST_CASE("where sends and receives share an element, addresses decide", "[exchange]") {
    const Pattern pattern{
        .tiles = 8, .transfers = 60, .max_receivers = 1, .receive_offset = 0x9000};
    const auto machine = machine_of(pattern.tiles);
    for (unsigned seed = 1; seed <= 12; ++seed) {
        CAPTURE(seed);
        const auto shared = RandomTransfers{machine, pattern, seed}.make();
        const auto apart = elsewhere(shared, 0, 0x20000);
        exchange_plan::KnownSchedules known;
        CHECK(same_plan(machine, shared, known));
        CHECK(same_plan(machine, apart, known));
        CHECK(same_plan(machine, elsewhere(shared, 0, 0x40), known));
        CHECK(same_plan(machine, elsewhere(shared, 0x40, 0), known));
        auto other_elements = machine;
        other_elements.memory.element_bytes *= 2;
        CHECK(same_plan(other_elements, shared, known));
        CHECK(known.found() == 0);
        CHECK(same_plan(machine, shared, known));
        CHECK(same_plan(machine, elsewhere(apart, 0, 0x40), known));
        CHECK(known.found() == 2);
    }
}

TEST_CASE("where tiles share no element, addresses may differ from those of other tiles",
          "[exchange]") {
    const auto machine = machine_of(8);
    auto transfers = two_messages(machine);
    const auto at = transfers[0].source_address;
    // tile 4 sends from and receives into one element
    transfers.push_back({.source_tile = 4,
                         .source_address = at,
                         .bytes = 64,
                         .paired = false,
                         .destinations = {{6, at}}});
    transfers.push_back({.source_tile = 6,
                         .source_address = at + 0x20000,
                         .bytes = 64,
                         .paired = false,
                         .destinations = {{4, at + 0x80}}});
    const auto found_after = [&](const std::function<void(Transfers&)>& change) {
        exchange_plan::KnownSchedules known;
        CHECK(same_plan(machine, transfers, known));
        auto changed = transfers;
        change(changed);
        CHECK(same_plan(machine, changed, known));
        return known.found();
    };
    CHECK(found_after([](Transfers& other) { other[1].source_address += 8; }) == 1);
    CHECK(found_after([](Transfers& other) { other[1].destinations[0].address += 8; }) == 1);
    CHECK(found_after([](Transfers& other) { other[2].destinations[0].address += 8; }) == 1);
    CHECK(found_after([](Transfers& other) { other[2].source_address += 8; }) == 0);
    CHECK(found_after([](Transfers& other) { other[3].destinations[0].address += 8; }) == 0);
    // no longer in one element
    CHECK(found_after([](Transfers& other) { other[3].destinations[0].address += 0x20000; }) == 0);
}

TEST_CASE("other messages and other machines are not known", "[exchange]") {
    const auto machine = machine_of(8);
    const auto transfers = two_messages(machine);
    REQUIRE(
        exchange_plan::plan_exchange_with_stats(machine, "one", transfers).stats.wide_messages ==
        1);
    const auto found_after =
        [&](const std::function<void(spec::MachineSpec&, Transfers&)>& change) {
            exchange_plan::KnownSchedules known;
            CHECK(same_plan(machine, transfers, known));
            auto changed_machine = machine;
            auto changed = transfers;
            change(changed_machine, changed);
            CHECK(same_plan(changed_machine, changed, known));
            return known.found();
        };
    CHECK(found_after([](auto&, auto&) {}) == 1);
    CHECK(found_after([](auto& other, auto&) { other.memory.region1_bytes -= 0x8000; }) == 1);
    CHECK(found_after([](auto& other, auto&) { other.tile.workers = 4; }) == 1);
    // an address is of another element where these are of another size or begin elsewhere, in either region
    CHECK(found_after([](auto& other, auto&) { other.memory.element_bytes *= 2; }) == 0);
    CHECK(found_after([](auto& other, auto&) {
              other.memory.base -= other.memory.element_bytes / 2;
          }) == 0);
    CHECK(found_after([](auto& other, auto&) {
              other.memory.region0_bytes += 2 * other.memory.element_bytes;
              other.memory.region1_bytes -= 2 * other.memory.element_bytes;
          }) == 0);
    CHECK(found_after([](auto& other, auto&) { other.chip.tiles = 16; }) == 0);
    CHECK(found_after([](auto& other, auto&) { ++other.exchange.row_tail_cycles; }) == 0);
    CHECK(found_after([](auto& other, auto&) {
              other.exchange.far_first = !other.exchange.far_first;
          }) == 0);
    CHECK(found_after([](auto&, auto& other) { other[1].bytes += 4; }) == 0);
    CHECK(found_after([](auto&, auto& other) { other[1].source_tile = 6; }) == 0);
    CHECK(found_after([](auto&, auto& other) { other[1].destinations[0].tile = 6; }) == 0);
    CHECK(found_after([](auto&, auto& other) { other[0].paired = false; }) == 0);
    CHECK(found_after([](auto&, auto& other) { other[0].source_address += 4; }) ==
          0); // no longer wide
    CHECK(found_after([](auto&, auto& other) { other[0].destinations.pop_back(); }) == 0);
    CHECK(found_after([](auto&, auto& other) { std::swap(other[0], other[1]); }) == 0);
    CHECK(found_after([](auto&, auto& other) { other.pop_back(); }) == 0);
}

TEST_CASE("the oldest schedules go when there is too much", "[exchange]") {
    const auto machine = machine_of(8);
    const auto first = two_messages(machine);
    auto second = first;
    second[1].bytes = 16;
    const auto bytes_of = [&](const Transfers& transfers) {
        exchange_plan::KnownSchedules known;
        CHECK(same_plan(machine, transfers, known));
        return known.bytes();
    };
    const std::size_t both = bytes_of(first) + bytes_of(second);
    REQUIRE(bytes_of(first) > 0);
    const auto found_of = [&](std::size_t most, const Transfers& asked) {
        exchange_plan::KnownSchedules known(most);
        CHECK(same_plan(machine, first, known));
        CHECK(same_plan(machine, second, known));
        CHECK(known.bytes() <= most);
        CHECK(same_plan(machine, asked, known));
        return known.found();
    };
    CHECK(found_of(both, first) == 1);
    CHECK(found_of(both - 1, first) == 0);
    CHECK(found_of(both - 1, second) == 1);
    CHECK(found_of(bytes_of(second), second) == 1);
    CHECK(found_of(bytes_of(second) - 1, second) == 0);
}

TEST_CASE("a schedule counts with the bytes of its messages, receivers, pieces, rows and parts",
          "[exchange]") {
    using namespace exchange_plan;
    const auto machine = machine_of(8);
    const auto list_of = [&](std::size_t jobs, std::size_t receivers) {
        JobList list{timing::LaneTiming(machine.exchange)};
        list.jobs.resize(jobs, Job{.address = machine.memory.region1_begin(), .words = 1});
        list.receivers.resize(receivers);
        return list;
    };
    const auto bytes_of = [&](JobList list, std::size_t pieces, std::size_t rows,
                              std::optional<Parts> parts = std::nullopt) {
        Schedule schedule;
        schedule.placements.resize(pieces);
        schedule.rows.resize(rows);
        KnownSchedules known;
        known.keep(machine, std::move(list), std::move(schedule), std::move(parts));
        return known.bytes();
    };
    const std::size_t least = bytes_of(list_of(0, 0), 0, 0);
    CHECK(bytes_of(list_of(5, 0), 0, 0) == least + 5 * sizeof(Job));
    CHECK(bytes_of(list_of(0, 5), 0, 0) == least + 5 * sizeof(Receiver));
    CHECK(bytes_of(list_of(0, 0), 5, 0) == least + 5 * sizeof(Placement));
    CHECK(bytes_of(list_of(0, 0), 0, 5) == least + 5 * sizeof(Schedule::Row));
    CHECK(bytes_of(list_of(0, 0), 0, 0, Parts{list_of(2, 3), JobOrder(4), {0, 0, 0}, 0}) ==
          least + 2 * sizeof(Job) + 3 * sizeof(Receiver) + (4 + 3) * sizeof(std::uint32_t));
}
