// SPDX-License-Identifier: MIT
// The SystemC shells one by one: told at the right cycle, once.
#include "models/exchange/exchange_fabric.h"
#include "models/sync/sync_unit.h"
#include "models/tile/tile.h"
#include "tests/component/hand_program.h"

#include <catch2/catch.hpp>

using namespace tessera;

namespace {

const sc_core::sc_time kCycle(1, sc_core::SC_NS);

/// Notes the cycle of every call.
struct Listener : tile::ComputeEnd, sync::SyncRelease, exchange::ExchangeEnd {
    void compute_ended(TileId tile) override { note("tile " + std::to_string(tile)); }
    void released() override { note("released"); }
    void exchange_ended() override { note("exchange"); }
    void note(const std::string& what) {
        calls.emplace_back(what,
                           static_cast<Cycles>(sc_core::sc_time_stamp().value() / kCycle.value()));
    }
    std::vector<std::pair<std::string, Cycles>> calls;
};

} // namespace

TEST_CASE("a tile ends its phase after the wait and its core's cycles") {
    test::HandProgram hand(test::four_tiles(), test::kStubs);
    Listener listener;
    tile::Tile tile("tile_2", 2, kCycle);
    tile.out_end.bind(listener);
    tile::CodeCache code(hand.program().codelets);
    std::vector<std::uint64_t> memory(static_cast<std::size_t>(hand.machine().memory.bytes() / 8));
    tile.load(hand.machine(), hand.program().images[2], code,
              reinterpret_cast<std::byte*>(memory.data()));
    tile.compute(hand.program().codelets[0].symbols.at("loop_of_5"), false);
    REQUIRE(tile.failure() == nullptr);
    CHECK(tile.spans().empty());
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    tile.start(11);
    sc_core::sc_start();
    REQUIRE(listener.calls.size() == 1);
    CHECK(listener.calls[0].first == "tile 2");
    CHECK(listener.calls[0].second == 11 + hand.stub_cycles("loop_of_5"));
}

TEST_CASE("a tile keeps its fault for who asks") {
    test::HandProgram hand(test::four_tiles(), test::kStubs);
    Listener listener;
    tile::Tile tile("tile_0", 0, kCycle);
    tile.out_end.bind(listener);
    tile::CodeCache code(hand.program().codelets);
    std::vector<std::uint64_t> memory(static_cast<std::size_t>(hand.machine().memory.bytes() / 8));
    tile.load(hand.machine(), hand.program().images[0], code,
              reinterpret_cast<std::byte*>(memory.data()));
    tile.compute(hand.program().codelets[0].symbols.at("fault_early"), false);
    REQUIRE(tile.failure() != nullptr);
    CHECK_THROWS_AS(std::rethrow_exception(tile.failure()), tile::TileFault);
    tile.compute(hand.program().codelets[0].symbols.at("at_once"), false);
    CHECK(tile.failure() == nullptr);
}

TEST_CASE("the barrier releases a fixed time after the last arrival") {
    spec::MachineSpec spec;
    spec.sync.internal_cycles = 126;
    spec.sync.external_cycles = 600;
    spec.host.latency_us = 2;
    spec.chip.clock_hz = 1e9;
    Listener listener;
    sync::SyncUnit unit("sync_unit", spec, 4, kCycle);
    unit.out_release.bind(listener);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    unit.arrive(3);
    sc_core::sc_start(sc_core::sc_time(40, sc_core::SC_NS));
    CHECK(listener.calls.empty());
    unit.arrive(1);
    sc_core::sc_start(sc_core::sc_time(125, sc_core::SC_NS));
    CHECK(listener.calls.empty());
    sc_core::sc_start(sc_core::sc_time(2, sc_core::SC_NS));
    REQUIRE(listener.calls.size() == 1);
    CHECK(listener.calls[0].second == 40 + 126);
    CHECK(unit.barrier_cycles(program::SyncZone::Internal) == 126);
    CHECK(unit.barrier_cycles(program::SyncZone::External) == 600);
    CHECK(unit.barrier_cycles(program::SyncZone::Host) == 2000);
    unit.arrive(4, program::SyncZone::External);
    sc_core::sc_start(sc_core::sc_time(601, sc_core::SC_NS));
    REQUIRE(listener.calls.size() == 2);
    CHECK(listener.calls[1].second == 40 + 127 + 600);
    unit.arrive(4);
    CHECK_THROWS_WITH(unit.arrive(1), "sync_unit: got 5 arrivals at a barrier of 4 tiles");
}

TEST_CASE("an exchange ends after the prologue and its longest row") {
    test::HandProgram hand(test::four_tiles(), test::kStubs);
    program::Transfer transfer;
    transfer.source_tile = 0;
    transfer.source_address = 0x80000;
    transfer.bytes = 400;
    transfer.destinations = {{1, 0x90000}};
    hand.exchange("send", {transfer});
    const auto& exchanges = hand.program().exchanges;
    Listener listener;
    exchange::ExchangeFabric fabric("exchange_fabric", hand.machine(), exchanges, kCycle);
    fabric.out_end.bind(listener);
    int reads = 0;
    const auto read_row = [&](TileId tile, Address, std::span<std::uint32_t> row_words) {
        ++reads;
        for (const auto& row : exchanges[0].rows) {
            if (row.tile == tile) {
                std::copy(row.words.begin(), row.words.end(), row_words.begin());
            }
        }
    };
    fabric.prepare(0, read_row);
    fabric.prepare(0, read_row);
    CHECK(reads == 2);
    const auto& rows = fabric.outcome(0).row_cycles;
    const Cycles longest = *std::max_element(rows.begin(), rows.end());
    CHECK(longest >= 100);
    CHECK(fabric.phase_cycles(0) == hand.machine().exchange.prologue_cycles + longest);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    fabric.start(0);
    sc_core::sc_start();
    REQUIRE(listener.calls.size() == 1);
    CHECK(listener.calls[0].second == fabric.phase_cycles(0));
}
