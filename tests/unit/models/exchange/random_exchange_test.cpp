// SPDX-License-Identifier: MIT
#include "kernels/exchange_plan/exchange_planner.h"
#include "tests/unit/models/exchange/random_transfers.h"
#include "tests/unit/models/exchange/support.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace tessera;
using namespace tessera::exchange_test;

namespace {

/// Tile memories, word by word, made when they are first touched.
class Memories {
public:
    Memories(const spec::MachineSpec& machine)
        : base_(machine.memory.region0_begin()),
          words_(static_cast<std::size_t>(machine.memory.bytes() / 4)),
          tiles_(static_cast<std::size_t>(machine.chip.tiles)) {}

    std::vector<std::uint32_t>& tile(TileId tile) {
        auto& words = tiles_[tile];
        if (words.empty()) {
            words.resize(words_);
            for (std::size_t i = 0; i < words_; ++i)
                words[i] = tile * 2654435761U + static_cast<std::uint32_t>(i) * 40503U;
        }
        return words;
    }

    void copy(TileId from, Address source, TileId to, Address destination, Bytes bytes) {
        auto& target = tile(to);
        const auto& words = tile(from);
        std::copy_n(words.begin() + index(source), bytes / 4, target.begin() + index(destination));
    }

    bool operator==(const Memories& other) const { return tiles_ == other.tiles_; }

private:
    std::ptrdiff_t index(Address address) const {
        return static_cast<std::ptrdiff_t>((address - base_) / 4);
    }

    Address base_;
    std::size_t words_;
    std::vector<std::vector<std::uint32_t>> tiles_;
};

/// Plans, executes and compares with plain copies; returns the number of 64-bit messages.
std::int64_t check_random(spec::MachineSpec machine, const Pattern& pattern, unsigned seed) {
    machine.chip.tiles = pattern.tiles;
    auto transfers = RandomTransfers{machine, pattern, seed}.make();
    CAPTURE(seed, pattern.tiles, transfers.size());
    auto plan = exchange_plan::plan_exchange_with_stats(machine, "random", transfers);
    const auto outcome = execute(machine, plan.exchange);

    Memories simulated{machine};
    for (const auto& copy : outcome.copies)
        simulated.copy(copy.source_tile, copy.source_address, copy.destination_tile,
                       copy.destination_address, copy.bytes);
    Memories expected{machine};
    std::int64_t sent = 0;
    std::int64_t received = 0;
    for (const auto& transfer : transfers) {
        sent += transfer.bytes / 4;
        for (const auto& destination : transfer.destinations) {
            received += transfer.bytes / 4;
            expected.copy(transfer.source_tile, transfer.source_address, destination.tile,
                          destination.address, transfer.bytes);
        }
    }
    CHECK(simulated == expected);
    // A multicast may be sent more than once, each time to others.
    CHECK(outcome.words_sent >= sent);
    CHECK(outcome.words_sent <= received);
    CHECK(outcome.words_received == received);
    CHECK(outcome.bytes == received * 4);
    CHECK(plan.stats.words_sent == outcome.words_sent);
    CHECK(plan.stats.words_received == received);
    CHECK(outcome.row_cycles.size() == static_cast<std::size_t>(plan.stats.active_tiles));
    CHECK(*std::max_element(outcome.row_cycles.begin(), outcome.row_cycles.end()) ==
          plan.stats.longest_row_events + machine.exchange.row_return_cycles);
    CHECK(plan.stats.longest_row_events >= plan.stats.bound.cycles());
    return plan.stats.wide_messages;
}

/// A machine whose memories are small enough for all tiles at once.
spec::MachineSpec small_memory() {
    spec::MachineSpec machine;
    machine.memory.region0_bytes = 0xc000;
    machine.memory.region1_bytes = 0x10000;
    return machine;
}

} // namespace

TEST_CASE("random exchanges on few tiles do what plain copies do", "[exchange][random]") {
    std::int64_t wide = 0;
    for (unsigned seed = 1; seed <= 100; ++seed)
        wide += check_random({}, {.tiles = 4, .transfers = 20, .max_receivers = 2}, seed);
    CHECK(wide > 50);
}

TEST_CASE("random exchanges on one column do what plain copies do", "[exchange][random]") {
    std::int64_t wide = 0;
    for (unsigned seed = 1; seed <= 8; ++seed)
        wide += check_random({}, {.tiles = 64, .transfers = 300, .max_receivers = 8}, seed);
    CHECK(wide > 50);
}

TEST_CASE("random exchanges that use both regions do what plain copies do", "[exchange][random]") {
    for (unsigned seed = 1; seed <= 4; ++seed)
        check_random({}, {.tiles = 128, .transfers = 300, .max_receivers = 20, .use_region0 = true},
                     seed);
}

TEST_CASE("random exchanges whose sends and receives share elements are serialised",
          "[exchange][random]") {
    for (unsigned seed = 1; seed <= 30; ++seed)
        check_random(
            {}, {.tiles = 8, .transfers = 60, .max_receivers = 3, .receive_offset = 0x9000}, seed);
}

TEST_CASE("random exchanges of single words do what plain copies do", "[exchange][random]") {
    for (unsigned seed = 1; seed <= 25; ++seed)
        check_random(
            {},
            {.tiles = 6, .transfers = 400, .max_receivers = 3, .max_words = 2, .paired_percent = 2},
            seed);
}

TEST_CASE("random exchanges on a whole chip do what plain copies do", "[exchange][random][large]") {
    for (unsigned seed = 1; seed <= 1; ++seed)
        check_random(small_memory(),
                     {.tiles = 1472,
                      .transfers = 6000,
                      .max_receivers = 12,
                      .max_words = 200,
                      .receive_offset = 0x8000},
                     seed);
}

TEST_CASE("random exchanges without double width do what plain copies do", "[exchange][random]") {
    spec::MachineSpec machine;
    machine.exchange.pair_double = false;
    for (unsigned seed = 1; seed <= 4; ++seed)
        CHECK(check_random(machine, {.tiles = 64, .transfers = 200, .max_receivers = 6}, seed) ==
              0);
}

TEST_CASE("random exchanges keep other machine limits", "[exchange][random]") {
    spec::MachineSpec machine;
    machine.exchange.max_words_per_sendoff = 16;
    machine.exchange.max_words_per_send = 8;
    machine.exchange.mux_to_pointer_cycles = 51;
    machine.exchange.row_tail_cycles = 9;
    machine.exchange.pair_min_items = 3;
    for (unsigned seed = 1; seed <= 40; ++seed)
        check_random(machine, {.tiles = 16, .transfers = 100, .max_receivers = 4, .max_words = 90},
                     seed);
}

TEST_CASE("random exchanges with far receivers first do what plain copies do",
          "[exchange][random][large]") {
    auto machine = small_memory();
    machine.exchange.pair_double = false;
    machine.exchange.far_first = true;
    for (unsigned seed = 1; seed <= 10; ++seed)
        check_random(machine,
                     {.tiles = 1472,
                      .transfers = 10,
                      .max_receivers = 900,
                      .max_words = 200,
                      .paired_percent = 0,
                      .receive_offset = 0x8000},
                     seed);
}

TEST_CASE("random exchanges on wider lanes do what plain copies do", "[exchange][random][large]") {
    for (const Bytes lane_bytes : {8, 16}) {
        spec::MachineSpec machine;
        machine.exchange.lane_bytes = lane_bytes;
        std::int64_t wide = 0;
        for (unsigned seed = 1; seed <= 25; ++seed)
            wide += check_random(machine, {.tiles = 4, .transfers = 20, .max_receivers = 2}, seed);
        for (unsigned seed = 1; seed <= 3; ++seed)
            wide +=
                check_random(machine, {.tiles = 64, .transfers = 300, .max_receivers = 8}, seed);
        CHECK(wide > 50);
        for (unsigned seed = 1; seed <= 10; ++seed) {
            check_random(
                machine,
                {.tiles = 8, .transfers = 60, .max_receivers = 3, .receive_offset = 0x9000}, seed);
            check_random(machine,
                         {.tiles = 6,
                          .transfers = 400,
                          .max_receivers = 3,
                          .max_words = 9,
                          .paired_percent = 2},
                         seed);
        }
        machine.exchange.max_words_per_sendoff = 19;
        machine.exchange.max_words_per_send = 6;
        machine.exchange.mux_to_pointer_cycles = 51;
        machine.exchange.row_tail_cycles = 9;
        machine.exchange.pair_min_items = 3;
        for (unsigned seed = 1; seed <= 20; ++seed)
            check_random(machine,
                         {.tiles = 16, .transfers = 100, .max_receivers = 4, .max_words = 90},
                         seed);
        check_random(machine,
                     {.tiles = 32, .transfers = 100, .max_receivers = 12, .use_region0 = true}, 1);
    }
}

TEST_CASE("random exchanges with far receivers first on wider lanes do what plain copies do",
          "[exchange][random]") {
    auto machine = small_memory();
    machine.exchange.pair_double = false;
    machine.exchange.far_first = true;
    machine.exchange.lane_bytes = 16;
    for (unsigned seed = 1; seed <= 3; ++seed)
        check_random(machine,
                     {.tiles = 1472,
                      .transfers = 5,
                      .max_receivers = 300,
                      .max_words = 800,
                      .paired_percent = 0,
                      .receive_offset = 0x8000},
                     seed);
}

TEST_CASE("random exchanges at short mux distances do what plain copies do", "[exchange][random]") {
    auto machine = small_memory();
    machine.exchange.pair_min_items = 3;
    for (const Cycles distance : {0, 1, 2, 3}) {
        machine.exchange.mux_to_pointer_cycles = distance;
        for (const Cycles row : {0, 1}) {
            machine.exchange.mux_to_pointer_row_cycles = row;
            for (unsigned seed = 1; seed <= 3; ++seed)
                check_random(machine,
                             {.tiles = 130,
                              .transfers = 60,
                              .max_receivers = 4,
                              .max_words = 90,
                              .receive_offset = 0x8000},
                             seed);
        }
    }
}

TEST_CASE("random exchanges over other routes do what plain copies do", "[exchange][random]") {
    auto machine = small_memory();
    auto& exchange = machine.exchange;
    const auto seeds = [&] {
        std::int64_t wide = 0;
        for (unsigned seed = 1; seed <= 3; ++seed)
            wide += check_random(
                machine,
                {.tiles = 200, .transfers = 60, .max_receivers = 6, .receive_offset = 0x8000},
                seed);
        CHECK(wide > 5);
    };
    exchange.route_cycles = 0;
    exchange.route_row_cycles = 5;
    seeds();
    exchange.route_column_cycles = 2; // the least: near 1, far 2
    exchange.route_far_cycles = 2;
    exchange.route_fold_cycles = 0;
    seeds();
    exchange.route_column_cycles = 9;
    exchange.route_near_cycles = 8; // the largest
    exchange.route_far_cycles = 9;
    exchange.route_step_cycles = 3;
    exchange.route_half_cycles = 0;
    seeds();
}

TEST_CASE("random exchanges on grids larger than a machine's do what plain copies do",
          "[exchange][random]") {
    for (const auto generation : {spec::Generation::Ipu1, spec::Generation::Ipu2}) {
        const bool pairs_are_neighbours = generation == spec::Generation::Ipu2;
        for (const std::int64_t tiles :
             {std::int64_t{1538}, std::int64_t{2944}, spec::kMostCompiledTiles}) {
            auto machine = small_memory();
            machine.chip.generation = generation;
            CHECK(check_random(machine,
                               {.tiles = tiles,
                                .transfers = 100,
                                .max_receivers = 4,
                                .max_words = 200,
                                .paired_percent = pairs_are_neighbours ? 40 : 0,
                                .receive_offset = 0x8000},
                               1) >= (pairs_are_neighbours ? 10 : 0));
        }
    }
}
