// SPDX-License-Identifier: MIT
// The fabrics that execute no rows: what they move, what they refuse, and what each of their
// parameters costs.
#include "base/error.h"
#include "models/exchange/core/demand.h"
#include "models/exchange/core/fabric.h"
#include "models/timing/tile_position.h"
#include "tests/unit/models/exchange/support.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <random>

using namespace tessera;
using exchange_test::transfer;
using spec::Fabric;

namespace {

constexpr Address kFrom = 0x80000;
constexpr Address kTo = 0xa0000;

spec::MachineSpec machine_with(Fabric fabric, std::int64_t tiles = 1472) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    machine.exchange.fabric = fabric;
    return machine;
}

exchange::FabricOutcome run(const spec::MachineSpec& machine,
                            std::vector<program::Transfer> transfers) {
    program::Exchange exchange;
    exchange.name = "test";
    exchange.transfers = std::move(transfers);
    return exchange::run_exchange(machine, exchange,
                                  [](TileId, Address, std::span<std::uint32_t>) { FAIL(); });
}

/// Cycles of `tile`, without the prologue.
Cycles cycles_of(const exchange::FabricOutcome& outcome, TileId tile) {
    const auto found = std::find(outcome.tiles.begin(), outcome.tiles.end(), tile);
    REQUIRE(found != outcome.tiles.end());
    return outcome.row_cycles[static_cast<std::size_t>(found - outcome.tiles.begin())];
}

Cycles mesh_hops(const spec::MachineSpec& machine, TileId from, TileId to) {
    const auto place = [&](TileId tile) {
        const auto id = timing::tile_position(machine.chip, tile).physical_id;
        return std::pair<int, int>(id % 64, id / 64);
    };
    return std::abs(place(from).first - place(to).first) +
           std::abs(place(from).second - place(to).second);
}

/// The tile at column `x` and row `y` of the mesh.
TileId tile_at(const spec::MachineSpec& machine, int x, int y) {
    for (TileId tile = 0; tile < static_cast<TileId>(machine.chip.tiles); ++tile)
        if (timing::tile_position(machine.chip, tile).physical_id ==
            static_cast<std::uint32_t>(64 * y + x))
            return tile;
    FAIL("no such place");
    return 0;
}

/// One message of random length from every tile to a random other one, each to its own address.
std::vector<program::Transfer> random_transfers(std::int64_t tiles, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<program::Transfer> transfers;
    for (TileId from = 0; from < static_cast<TileId>(tiles); ++from) {
        const auto to = static_cast<TileId>((from + 1 + random() % (tiles - 1)) % tiles);
        transfers.push_back(transfer(from, kFrom, 4 * (1 + random() % 64),
                                     {{to, static_cast<Address>(kTo + 256 * from)}}));
    }
    return transfers;
}

} // namespace

TEST_CASE("every fabric delivers every byte and none beats the bound", "[unit][exchange]") {
    constexpr std::int64_t kTiles = 96;
    for (const Fabric fabric : {Fabric::Bound, Fabric::Mesh, Fabric::Ring}) {
        const auto machine = machine_with(fabric, kTiles);
        const auto transfers = random_transfers(kTiles, 7);
        Bytes sent = 0;
        for (const auto& each : transfers)
            sent += each.bytes;
        const auto outcome = run(machine, transfers);
        CHECK(outcome.bytes == sent);
        CHECK(outcome.words_sent == sent / 4);
        CHECK(outcome.copies.size() == transfers.size());
        CHECK(outcome.tiles.size() == kTiles);
        CHECK(outcome.phase_cycles() - outcome.prologue_cycles >= outcome.bound_cycles);
        const auto again = run(machine, transfers);
        CHECK(again.row_cycles == outcome.row_cycles);
    }
}

TEST_CASE("the bound counts lanes", "[unit][exchange]") {
    // 0 sends 100 wide items over its lane and 1's; 1 sends 10 words of its own into the pair.
    const std::vector<program::Transfer> transfers{
        transfer(0, kFrom, 800, {{2, kTo}, {3, kTo}}, true), transfer(1, kFrom, 40, {{2, kFrom}})};
    auto machine = machine_with(Fabric::Bound, 4);
    const auto outcome = run(machine, transfers);
    CHECK(outcome.bound_cycles == 800 / 8 + 40 / 4);
    CHECK(outcome.phase_cycles() == outcome.bound_cycles);
    CHECK(cycles_of(outcome, 0) == 800 / 8);
    CHECK(cycles_of(outcome, 3) == 800 / 8);
    machine.exchange.pair_double = false;
    CHECK(run(machine, transfers).bound_cycles == 800 / 4 + 40 / 4);

    program::Exchange lanes;
    machine.exchange.pair_double = true;
    lanes.transfers = {transfer(0, kFrom, 800, {{2, kTo}, {3, kTo}}, true),
                       transfer(1, kFrom, 1200, {{0, kTo}})};
    const auto demand = exchange::demand_of(machine, lanes);
    CHECK(demand.out[1] == 800 / 8 + 1200 / 4);
    CHECK(demand.bound() == demand.out[1]);
}

TEST_CASE("a message on an empty mesh takes its hops and its words", "[timing][exchange]") {
    auto machine = machine_with(Fabric::Mesh);
    const Cycles words = 25;
    for (const TileId to : {1U, 2U, 77U, 1471U}) {
        for (const Cycles hop : {1, 3}) {
            machine.exchange.hop_cycles = hop;
            const auto outcome = run(machine, {transfer(0, kFrom, 4 * words, {{to, kTo}})});
            CHECK(cycles_of(outcome, to) == hop * mesh_hops(machine, 0, to) + words);
            CHECK(cycles_of(outcome, 0) == words);
            CHECK(outcome.prologue_cycles == machine.exchange.prologue_cycles);
        }
    }
}

TEST_CASE("messages wait for a link that another one holds", "[timing][exchange]") {
    auto machine = machine_with(Fabric::Mesh);
    const Cycles words = 40;
    const Bytes bytes = 4 * words;
    // Two neighbours of one row send to the right: from the second on they share all links.
    const TileId first = tile_at(machine, 10, 3);
    const TileId second = tile_at(machine, 11, 3);
    const std::vector<program::Transfer> transfers{
        transfer(first, kFrom, bytes, {{tile_at(machine, 20, 3), kTo}}),
        transfer(second, kFrom, bytes, {{tile_at(machine, 21, 3), kTo}})};
    const Cycles hop = machine.exchange.hop_cycles;
    for (const Bytes width : {1, 2, 3, 4, 8, 64}) {
        machine.exchange.link_bytes = width;
        const Cycles held = (bytes + width - 1) / width;
        const Cycles lasting = std::max(held, words); // a wide link makes no lane faster
        const auto outcome = run(machine, transfers);
        CAPTURE(width);
        // The first to be granted goes through; the other one's head waits until its link is free:
        // the first's has gone one hop before it takes that one, and is asked first if its tile's
        // number is lower.
        const bool in_order = first < second;
        const Cycles wait = in_order ? hop + held : 0;
        const Cycles other_wait = in_order ? 0 : held - hop;
        CHECK(cycles_of(outcome, transfers[0].destinations[0].tile) ==
              10 * hop + other_wait + lasting);
        CHECK(cycles_of(outcome, transfers[1].destinations[0].tile) == 10 * hop + wait + lasting);
        CHECK(cycles_of(outcome, first) == lasting);
        CHECK(cycles_of(outcome, second) == wait + lasting);
    }
}

TEST_CASE("a sender's next message waits for its lane", "[timing][exchange]") {
    for (const Fabric fabric : {Fabric::Mesh, Fabric::Ring}) {
        auto machine = machine_with(fabric, 64);
        machine.exchange.hop_cycles = 0;
        for (const Bytes width : {2, 4, 64}) {
            machine.exchange.link_bytes = width;
            // Ways that share no link but the lane.
            const auto outcome = run(
                machine, {transfer(8, kFrom, 400, {{9, kTo}}), transfer(8, kFrom, 80, {{7, kTo}})});
            const Cycles lasting = std::max<Cycles>(100, 400 / width);
            const Cycles next = std::max<Cycles>(20, 80 / width);
            CHECK(cycles_of(outcome, 9) == lasting);
            CHECK(cycles_of(outcome, 8) == lasting + next);
            CHECK(cycles_of(outcome, 7) == lasting + next);
        }
    }
}

TEST_CASE("a link carries a multicast once", "[timing][exchange]") {
    const auto machine = machine_with(Fabric::Mesh);
    const Cycles words = 100;
    std::vector<program::Destination> row;
    for (int x = 1; x < 64; ++x)
        row.push_back({tile_at(machine, x, 0), kTo});
    const auto tree = run(machine, {transfer(tile_at(machine, 0, 0), kFrom, 4 * words, row)});
    for (int x = 1; x < 64; ++x)
        CHECK(cycles_of(tree, tile_at(machine, x, 0)) == x * machine.exchange.hop_cycles + words);
    std::vector<program::Transfer> apart;
    for (const auto& to : row)
        apart.push_back(transfer(tile_at(machine, 0, 0), kFrom, 4 * words, {to}));
    CHECK(run(machine, apart).phase_cycles() >= 63 * words);
}

TEST_CASE("a ring goes round one way or the shorter way", "[timing][exchange]") {
    auto machine = machine_with(Fabric::Ring, 100);
    const auto hops = [&](TileId from, TileId to) {
        const auto outcome = run(machine, {transfer(from, kFrom, 4, {{to, kTo}})});
        return (cycles_of(outcome, to) - 1) / machine.exchange.hop_cycles;
    };
    machine.exchange.hop_cycles = 2;
    CHECK(hops(10, 13) == 3);
    CHECK(hops(13, 10) == 3);
    CHECK(hops(1, 99) == 2);
    CHECK(hops(0, 50) == 50);
    machine.exchange.ring_directions = 1;
    CHECK(hops(10, 13) == 3);
    CHECK(hops(13, 10) == 97);
    CHECK(hops(1, 99) == 98);
}

TEST_CASE("a message that goes half way round a ring goes up", "[timing][exchange]") {
    for (const TileId tiles : {8U, 100U}) {
        auto machine = machine_with(Fabric::Ring, tiles);
        const TileId half = tiles / 2;
        constexpr Bytes kBytes = 4000;
        const auto beside = [&](TileId from, TileId to) {
            return cycles_of(run(machine, {transfer(0, kFrom, kBytes, {{half, kTo}}),
                                           transfer(from, kFrom, kBytes, {{to, kTo}})}),
                             to);
        };
        const auto alone = [&](TileId from, TileId to) {
            return cycles_of(run(machine, {transfer(from, kFrom, kBytes, {{to, kTo}})}), to);
        };
        CAPTURE(tiles);
        CHECK(beside(1, 2) > alone(1, 2)); // shares the link from 1 to 2
        CHECK(beside(half + 2, half + 1) == alone(half + 2, half + 1)); // on the way down
        CHECK(beside(tiles - 1, tiles - 2) == alone(tiles - 1, tiles - 2));
    }
}

TEST_CASE("messages on a ring wait for each other where they share a link, either way",
          "[timing][exchange]") {
    auto machine = machine_with(Fabric::Ring, 100);
    machine.exchange.link_bytes = 4;
    constexpr Bytes kBytes = 4000;
    const auto slowest = [&](std::vector<std::pair<TileId, TileId>> ways) {
        std::vector<program::Transfer> transfers;
        for (const auto& [from, to] : ways)
            transfers.push_back(transfer(from, kFrom, kBytes, {{to, kTo}}));
        return run(machine, transfers).phase_cycles();
    };
    // no two messages have a sender or a receiver in common: only links are shared
    for (const bool upwards : {true, false}) {
        const auto tile = [&](TileId steps) { return upwards ? 40 + steps : 60 - steps; };
        CAPTURE(upwards);
        const Cycles alone = slowest({{tile(10), tile(13)}});
        for (const TileId begin : {11U, 12U})
            CHECK(slowest({{tile(10), tile(13)}, {tile(begin), tile(begin + 3)}}) >
                  alone + kBytes / 8);
        CHECK(slowest({{tile(10), tile(13)}, {tile(14), tile(17)}}) == alone);
        for (const TileId beside : {7U, 8U, 9U, 13U, 14U})
            CHECK(slowest({{tile(10), tile(13)}, {tile(beside), tile(beside + 1)}}) == alone);
        CHECK(slowest({{tile(14), tile(17)}, {tile(10), tile(13)}}) == alone);
        CHECK(slowest({{tile(10), tile(13)}, {tile(14), tile(11)}}) == alone); // the other way
    }
}

TEST_CASE("a lane takes one word a cycle whatever the links", "[timing][exchange]") {
    for (const Fabric fabric : {Fabric::Mesh, Fabric::Ring}) {
        auto machine = machine_with(fabric, 64);
        machine.exchange.link_bytes = 4096;
        machine.exchange.hop_cycles = 0;
        std::vector<program::Transfer> gather;
        for (TileId from = 1; from < 64; ++from)
            gather.push_back(transfer(from, kFrom, 400, {{0, kTo + 400 * from}}));
        const auto outcome = run(machine, gather);
        CHECK(cycles_of(outcome, 0) >= 63 * 100);
        CHECK(cycles_of(outcome, 0) <= 63 * 100 + 64);
    }
}

TEST_CASE("chips larger than the machine's numbers run on the other fabrics", "[unit][exchange]") {
    for (const Fabric fabric : {Fabric::Bound, Fabric::Mesh, Fabric::Ring}) {
        const auto machine = machine_with(fabric, 4096);
        CHECK(run(machine, {transfer(0, kFrom, 4, {{4095, kTo}})}).bytes == 4);
    }
}

TEST_CASE("transfers that no fabric can carry are refused", "[unit][exchange]") {
    const auto machine = machine_with(Fabric::Mesh, 4);
    const auto refused = [&](std::vector<program::Transfer> transfers, const char* text) {
        CHECK_THROWS_WITH(run(machine, std::move(transfers)), Catch::Contains(text));
    };
    refused({transfer(0, kFrom, 4, {{4, kTo}})}, "tile 4, expected 0..3");
    refused({transfer(0, kFrom, 6, {{1, kTo}})}, "expected whole words");
    refused({transfer(0, kFrom, 0, {{1, kTo}})}, "expected whole words");
    refused({transfer(0, kFrom + 2, 4, {{1, kTo}})}, "expected whole words");
    refused({transfer(0, machine.memory.end() - 4, 8, {{1, kTo}})}, "inside tile memory");
    refused({transfer(0, kFrom, 8, {{1, machine.memory.region0_begin() - 4}})},
            "inside tile memory");
    refused({transfer(0, kFrom, 4, {{0, kTo}})}, "its own receiver");
    refused({transfer(0, kFrom, 8, {{1, kTo}}), transfer(2, kFrom, 8, {{1, kTo + 4}})},
            "received twice");
    refused({transfer(0, kFrom, 8, {{1, kTo}}), transfer(1, kTo + 4, 8, {{2, kTo}})},
            "received and sent");
    refused({transfer(0, kFrom, 8, {{1, kTo + 4}}), transfer(1, kTo, 8, {{2, kTo}})},
            "received and sent");
}
