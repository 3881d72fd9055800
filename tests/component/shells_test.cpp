// SPDX-License-Identifier: MIT
// The units one by one, driven through their ports alone.
#include "models/exchange/exchange_fabric.h"
#include "models/ipu/core/chip_memory.h"
#include "models/memory/stream_ports.h"
#include "models/sync/sync_unit.h"
#include "models/sync/zone_sync.h"
#include "models/tile/alarm.h"
#include "models/tile/tile.h"
#include "tests/component/fakes.h"
#include "tests/component/hand_program.h"

#include <catch2/catch.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

using namespace tessera;
using events::Doing;
using events::Meeting;
using ports::Clock;
using Purpose = events::Meeting::Purpose;
using test::run_for;

namespace {

void in_order(std::size_t items, const std::function<void(std::size_t)>& body) {
    for (std::size_t item = 0; item < items; ++item) {
        body(item);
    }
}
const ForEach kInOrder = in_order;

Meeting sync_in_step(std::int64_t step, program::SyncZone zone = program::SyncZone::chip()) {
    return {.purpose = Purpose::Sync, .step = step, .zone = zone};
}

/// A tile bound to fakes.
struct Alone {
    Alone(test::HandProgram& hand, TileId number)
        : memory(hand.machine()), facts{hand.machine(), hand.program(), memory},
          code(hand.program().codelets) {
        for (const auto& copy : hand.program().stream_copies) {
            auto& tiles = facts.tiles_of_copy.emplace_back();
            for (const auto& piece : copy.pieces) {
                tiles.push_back(piece.tile);
            }
        }
        tile.emplace(("tile_" + std::to_string(number)).c_str(), facts, number);
        tile->barrier.bind(barrier);
        tile->fabric.bind(fabric);
        tile->streams.bind(streams);
        tile->alarm.bind(alarm);
        tile->witness.bind(witness);
        tile->load(
            hand.program().images[number], code,
            {memory.of_tile(number), static_cast<std::size_t>(memory.bytes_of_tile(number))});
    }
    /// Time passes, and the tile is woken when it has asked for it.
    void run_for(Cycles cycles) {
        const Cycles end = Clock::now() + cycles;
        test::run_for(0);
        while (!alarm.calls.empty() && alarm.calls.front().second <= end) {
            const auto [who, cycle] = alarm.calls.front();
            alarm.calls.erase(alarm.calls.begin());
            CHECK(who == tile->walk().tile());
            test::run_for(cycle - Clock::now());
            tile->wake();
        }
        test::run_for(end - Clock::now());
    }
    void release() { tile->wake(); }

    ipu::ChipMemory memory;
    tile::WalkFacts facts;
    tile::CodeCache code;
    test::FakeAlarm alarm;
    test::FakeBarrier barrier;
    test::FakeFabric fabric;
    test::FakeStreams streams;
    test::FakeWitness witness;
    std::optional<tile::Tile> tile;
};

} // namespace

TEST_CASE("a tile walks the control program and meets others in its own cycles") {
    test::HandProgram hand(test::four_tiles(), test::kStubs);
    const auto first = hand.compute_set("first", {{2, "loop_of_5"}});
    const auto second = hand.compute_set("second", {{2, "loop_of_50"}, {1, "at_once"}});
    const auto others = hand.compute_set("others", {{1, "at_once"}});
    program::Transfer word{0, 0x80000, 4, false, {{2, 0x90000}}};
    const auto send = hand.exchange("send", {word});
    hand.then_compute(first).then_compute(second).then_exchange(send);
    hand.then_compute(others).then_compute(first);
    Alone alone(hand, 2);
    alone.fabric.rows[{send, 2}] = 31;
    const Cycles step = hand.machine().control.step_cycles;
    const Cycles begin = 2 * step + hand.stub_cycles("loop_of_5") + hand.stub_cycles("loop_of_50");
    alone.run_for(begin - 1);
    CHECK(alone.barrier.arrivals.empty());
    alone.run_for(1000);
    REQUIRE(alone.barrier.arrivals.size() == 1);
    CHECK(alone.barrier.arrivals[0].tile == 2);
    CHECK(alone.barrier.arrivals[0].cycle == begin);
    CHECK(alone.barrier.arrivals[0].meeting ==
          Meeting{.purpose = Purpose::Exchange, .step = 3, .exchange = send});
    const Cycles released = Clock::now();
    alone.release();
    alone.run_for(1000);
    // its row, no part in `others`, and `first` once more; then the end of the program
    const Cycles end = released + 31 + step + hand.stub_cycles("loop_of_5");
    REQUIRE(alone.barrier.arrivals.size() == 2);
    CHECK(alone.barrier.arrivals[1].cycle == end);
    CHECK(alone.barrier.arrivals[1].meeting == Meeting{.purpose = Purpose::End, .step = 5});
    const auto& spans = alone.witness.spans;
    REQUIRE(spans.size() == 4);
    CHECK(spans[2].doing == Doing::Exchange);
    CHECK(spans[2].begin == released);
    CHECK(spans[2].end == released + 31);
    CHECK(spans[3].doing == Doing::ComputeSet);
    CHECK(spans[3].step == 5);
    CHECK(spans[3].work.counts.supervisor_instructions() == 1 + 6 + 1);
    CHECK(alone.witness.failures.empty());
}

namespace {

/// Cycles from the release to where a tile comes to the end that computes only if it is told a word
/// that is not 0.
Cycles cycles_after(std::uint32_t word) {
    test::HandProgram hand(test::four_tiles(), test::kStubs);
    auto decision = hand.step(
        program::Step::Kind::If, 0,
        {hand.step(program::Step::Kind::ComputeSet, hand.compute_set("work", {{2, "loop_of_5"}}))});
    decision.value = program::TileValue{1, 0x80000};
    hand.then(decision);
    Alone alone(hand, 2);
    alone.fabric.word = {word, 40};
    alone.run_for(10);
    REQUIRE(alone.barrier.arrivals.size() == 1);
    CHECK(alone.barrier.arrivals[0].cycle == 0);
    CHECK(alone.barrier.arrivals[0].meeting.purpose == Purpose::Value);
    CHECK(alone.barrier.arrivals[0].meeting.value.tile == 1);
    alone.release();
    alone.run_for(1000);
    REQUIRE(alone.barrier.arrivals.size() == 2);
    return alone.barrier.arrivals[1].cycle - 10;
}

} // namespace

TEST_CASE("a tile does what it is told a word for") {
    const test::HandProgram hand(test::four_tiles(), test::kStubs);
    const auto& control = hand.machine().control;
    CHECK(cycles_after(3) ==
          40 + control.branch_cycles + control.step_cycles + hand.stub_cycles("loop_of_5"));
}

TEST_CASE("a tile leaves out what it is told a 0 for") {
    CHECK(cycles_after(0) == 40 + spec::MachineSpec{}.control.branch_cycles);
}

TEST_CASE("a tile's fault is an event in its cycle") {
    test::HandProgram hand(test::four_tiles(), test::kStubs);
    hand.then_compute(hand.compute_set("quiet", {{2, "loop_of_5"}}));
    hand.then_compute(hand.compute_set("loud", {{2, "fault_late"}}));
    Alone alone(hand, 2);
    alone.run_for(20);
    CHECK(alone.witness.failures.empty());
    alone.run_for(1000);
    REQUIRE(alone.witness.failures.size() == 1);
    const auto& failure = alone.witness.failures[0];
    CHECK(failure.tile == 2);
    Cycles in_stub = 0;
    try {
        static_cast<void>(hand.stub_cycles("fault_late", 2));
    } catch (const tile::TileFault& fault) {
        in_stub = fault.fault().cycle;
    }
    const Cycles step = hand.machine().control.step_cycles;
    CHECK(in_stub > 0);
    CHECK(failure.cycle == 2 * step + hand.stub_cycles("loop_of_5") + in_stub);
    CHECK_THAT(failure.text,
               Catch::StartsWith("tile_2.supervisor @ " + std::to_string(failure.cycle) + ": "));
    CHECK(alone.barrier.arrivals.empty());
}

TEST_CASE("a tile calls for a copy, waits for its end and tells what it waited for") {
    test::HandProgram hand(test::four_tiles(), test::kStubs);
    hand.program().remote_buffers.push_back(
        {"rows", program::RemoteBuffer::Place::StreamingMemory, 4, 8});
    hand.program().stream_copies.push_back({.name = "fetch",
                                            .buffer = 0,
                                            .direction = program::StreamCopy::Direction::Read,
                                            .rows = 1,
                                            .pieces = {{2, 0x80000, 4, 0}, {3, 0x80000, 4, 4}}});
    hand.then_compute(hand.compute_set("work", {{2, "loop_of_5"}}));
    auto copy = hand.step(program::Step::Kind::StreamCopy);
    copy.row = 3;
    hand.then(copy);
    Alone alone(hand, 2);
    alone.run_for(100);
    const Cycles called = hand.machine().control.step_cycles + hand.stub_cycles("loop_of_5");
    REQUIRE(alone.streams.calls.size() == 1);
    CHECK(alone.streams.calls[0].cycle == called);
    CHECK(alone.streams.calls[0].call.row == 3);
    CHECK(alone.streams.calls[0].call.step == 2);
    CHECK_FALSE(alone.streams.calls[0].call.background);
    CHECK(alone.streams.waiting == std::vector<std::pair<TileId, Cycles>>{{2, called}});
    CHECK(alone.barrier.arrivals.empty());
    alone.streams.times = 1;
    alone.streams.last = {called + 7, 100, 3};
    alone.tile->wake();
    CHECK(alone.streams.leavers == std::vector<std::pair<TileId, Cycles>>{{2, 100}});
    REQUIRE(alone.barrier.arrivals.size() == 1);
    CHECK(alone.barrier.arrivals[0].cycle == 100);
    const auto& spans = alone.witness.spans;
    REQUIRE(spans.size() == 3);
    CHECK(spans[1].doing == Doing::Awaited);
    CHECK(spans[1].awaited == 3);
    CHECK(spans[1].cycles() == 7);
    CHECK(spans[2].doing == Doing::Stream);
    CHECK(spans[2].end == 100);
}

TEST_CASE("the barrier releases a fixed time after the last arrival") {
    spec::MachineSpec spec;
    spec.sync.internal_cycles = 126;
    spec.sync.external_cycles = 600;
    spec.host.latency_us = 2;
    spec.chip.clock_hz = 1e9;
    struct Chip : ports::AtRelease {
        Cycles at_release(const Meeting& meeting, TileId last, Cycles last_arrival) override {
            calls.push_back({meeting.step, last, last_arrival, Clock::now()});
            return 0;
        }
        struct Call {
            std::int64_t step = 0;
            TileId last = 0;
            Cycles last_arrival = 0;
            Cycles cycle = 0;
        };
        std::vector<Call> calls;
    } chip;
    struct Tile : ports::Sleeper {
        void wake() override { woken.push_back(Clock::now()); }
        std::vector<Cycles> woken;
    } woken;
    test::FakeWitness witness;
    sync::SyncUnit unit("sync_unit", spec, 4);
    unit.at_release.bind(chip);
    unit.tiles.bind(woken);
    unit.witness.bind(witness);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    unit.arrive(0, sync_in_step(1));
    run_for(40);
    for (const TileId tile : {3U, 1U, 2U}) {
        unit.arrive(tile, sync_in_step(1));
    }
    run_for(125);
    CHECK(chip.calls.empty());
    run_for(2);
    REQUIRE(chip.calls.size() == 1);
    CHECK(chip.calls[0].last == 1); // the lowest of those that came last
    CHECK(chip.calls[0].last_arrival == 40);
    CHECK(chip.calls[0].cycle == 40 + 126);
    CHECK(unit.barrier_cycles(sync_in_step(1, program::SyncZone::group(0))) == 600);
    CHECK(unit.barrier_cycles(sync_in_step(1, program::SyncZone::host())) == 2000);
    CHECK(unit.barrier_cycles({.purpose = Purpose::End}) == 0);
    for (const TileId tile : {0U, 1U, 2U, 3U}) {
        unit.arrive(tile, sync_in_step(2, program::SyncZone::group(0)));
    }
    run_for(601);
    REQUIRE(chip.calls.size() == 2);
    CHECK(chip.calls[1].last == 0);
    CHECK(chip.calls[1].cycle == 40 + 127 + 600);
    CHECK(woken.woken == std::vector<Cycles>{40 + 126, 40 + 127 + 600});
    for (const TileId tile : {0U, 1U, 2U, 3U}) {
        unit.arrive(tile, {.purpose = Purpose::End, .step = 2});
    }
    run_for(1);
    CHECK(chip.calls.size() == 3);
    CHECK(woken.woken.size() == 2); // nobody goes on
}

TEST_CASE("a barrier of several chips releases a chip when it wakes its sync unit") {
    spec::MachineSpec spec;
    struct Outer : ports::OuterBarrier {
        void arrive(std::int64_t chip, const events::Meeting& meeting) override {
            arrivals.push_back({chip, meeting.step, Clock::now()});
        }
        std::vector<std::tuple<std::int64_t, std::int64_t, Cycles>> arrivals;
    } outer;
    struct Tile : ports::Sleeper {
        void wake() override { woken.push_back(Clock::now()); }
        std::vector<Cycles> woken;
    };
    Tile of_first;
    Tile of_second;
    test::FakeWitness witness;
    sync::SyncUnit first("first", spec, 2);
    sync::SyncUnit second("second", spec, 1, 7);
    for (auto& [unit, tile] : {std::pair<sync::SyncUnit*, Tile*>{&first, &of_first},
                               std::pair<sync::SyncUnit*, Tile*>{&second, &of_second}}) {
        unit->outer.bind(outer);
        unit->tiles.bind(*tile);
        unit->witness.bind(witness);
    }
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    const auto external = sync_in_step(3, program::SyncZone::group(0));
    first.arrive(0, external);
    CHECK(outer.arrivals.empty());
    run_for(40);
    first.arrive(1, external);
    second.arrive(0, external);
    run_for(spec.sync.external_cycles + 10);
    CHECK(of_first.woken.empty());
    using Arrival = std::tuple<std::int64_t, std::int64_t, Cycles>;
    CHECK(outer.arrivals == std::vector<Arrival>{{0, 3, 40}, {7, 3, 40}});
    const Cycles released = Clock::now();
    first.wake();
    run_for(5);
    second.wake();
    CHECK(of_first.woken == std::vector<Cycles>{released});
    CHECK(of_second.woken == std::vector<Cycles>{released + 5});
    // a barrier of the chip itself is not the others' business
    for (const TileId tile : {0U, 1U}) {
        first.arrive(tile, sync_in_step(4));
    }
    run_for(spec.sync.internal_cycles + 1);
    CHECK(of_first.woken ==
          std::vector<Cycles>{released, released + 5 + spec.sync.internal_cycles});
    CHECK(outer.arrivals.size() == 2);
}

namespace {

/// A zone of chips that run one program of link exchanges "e" and "f".
struct AloneZone {
    AloneZone(spec::MachineSpec machine, const std::vector<std::uint32_t>& groups)
        : spec(std::move(machine)) {
        auto program = std::make_shared<program::Program>();
        program->link_exchanges.resize(2);
        program->link_exchanges[0].name = "e";
        program->link_exchanges[1].name = "f";
        system.programs = {program};
        system.program_of_chip.assign(groups.size(), 0);
        system.zones = {groups};
        zone.emplace("zone", spec, system, 0);
        chips.resize(groups.size());
        witnesses.resize(groups.size());
        for (std::size_t chip = 0; chip < groups.size(); ++chip) {
            chips[chip].number = chip;
            chips[chip].log = &woken;
            zone->chips.bind(chips[chip]);
            zone->witnesses.bind(witnesses[chip]);
        }
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    struct Chip : ports::Sleeper {
        void wake() override { log->emplace_back(number, Clock::now()); }
        std::size_t number = 0;
        std::vector<std::pair<std::size_t, Cycles>>* log = nullptr;
    };

    spec::MachineSpec spec;
    program::SystemProgram system;
    std::deque<Chip> chips;
    std::deque<test::FakeWitness> witnesses;
    std::vector<std::pair<std::size_t, Cycles>> woken;
    std::optional<sync::ZoneSync> zone;
};

/// Barriers of 600 cycles, and hops of 10.
spec::MachineSpec with_hops() {
    spec::MachineSpec spec;
    spec.chip.clock_hz = 1e9;
    spec.sync.external_cycles = 600;
    spec.sync.hop_ns = 10;
    return spec;
}

} // namespace

TEST_CASE("a zone releases each group of chips by its last one, and the later the farther it is") {
    // The farthest chips are 1, 5 and 6, on boards 0, 2 and 3.
    AloneZone alone(with_hops(), {5, 5, 2, 2, 9, 2, 9});
    auto& zone = *alone.zone;
    for (const auto& [chip, boards] :
         {std::pair{0, 0}, {1, 0}, {2, 2}, {3, 2}, {5, 2}, {4, 3}, {6, 3}}) {
        CAPTURE(chip);
        CHECK(zone.barrier_cycles(static_cast<std::size_t>(chip)) == 600 + 2 * boards * 10);
    }
    using Chips = std::vector<std::size_t>;
    const auto meets = sync_in_step(3, program::SyncZone::group(0));
    zone.arrive(2, meets);
    run_for(5);
    zone.arrive(4, {.purpose = Purpose::Link, .step = 4, .exchange = 1});
    run_for(5);
    CHECK(zone.waits(2));
    CHECK_FALSE(zone.waits(3));
    CHECK(zone.awaited_by(2) == Chips{3, 5});
    CHECK(zone.awaited_by(4) == Chips{6});
    CHECK(zone.text_of(2) == "ipu_2 is at a sync of zone 0 in step 3");
    CHECK(zone.text_of(4) == "ipu_4 is at link exchange f of zone 0 in step 4");
    zone.arrive(6, {.purpose = Purpose::Link, .step = 9, .exchange = 1});
    zone.arrive(3, meets);
    run_for(10);
    zone.arrive(5, meets);
    run_for(1000);
    // chips 0 and 1 never came, and nobody waits for them
    CHECK(alone.woken ==
          std::vector<std::pair<std::size_t, Cycles>>{
              {2, 20 + 640}, {3, 20 + 640}, {5, 20 + 640}, {4, 10 + 660}, {6, 10 + 660}});
    CHECK_FALSE(zone.waits(2));
    for (const std::size_t chip : {0U, 1U}) { // who has been released may come again
        zone.arrive(static_cast<std::int64_t>(chip), meets);
    }
    run_for(600); // up to the release
    CHECK(alone.woken.size() == 5);
    run_for(1);
    CHECK(alone.woken.size() == 7);
    for (const auto& witness : alone.witnesses) {
        CHECK(witness.failures.empty());
    }
}

TEST_CASE("a barrier between chips takes a cycle at least") {
    spec::MachineSpec spec = with_hops();
    spec.sync.external_cycles = 0;
    AloneZone alone(spec, {0, 0, 1, 1});
    CHECK(alone.zone->barrier_cycles(0) == 1);
    CHECK(alone.zone->barrier_cycles(2) == 20);
}

TEST_CASE("chips of a group that meet for different things are told once, at the first of them") {
    AloneZone alone(with_hops(), {0, 1, 0, 0});
    run_for(7);
    alone.zone->arrive(3, {.purpose = Purpose::Link, .step = 2, .exchange = 0});
    run_for(1);
    CHECK(alone.witnesses[3].failures.empty());
    alone.zone->arrive(2, {.purpose = Purpose::Link, .step = 5, .exchange = 1});
    run_for(1);
    alone.zone->arrive(0, sync_in_step(6, program::SyncZone::group(0)));
    run_for(1000);
    REQUIRE(alone.witnesses[2].failures.size() == 1);
    CHECK(alone.witnesses[2].failures[0].tile == ports::Witness::kNoTile);
    CHECK(alone.witnesses[2].failures[0].cycle == 8);
    CHECK(alone.witnesses[2].failures[0].text ==
          "unbalanced zone 0 at cycle 8: ipu_2 is at link exchange f of zone 0 in step 5, ipu_3 is "
          "at link exchange e of zone 0 in step 2");
    for (const std::size_t chip : {0U, 1U, 3U}) {
        CHECK(alone.witnesses[chip].failures.empty());
    }
    CHECK(alone.woken.empty());
}

TEST_CASE("the alarm wakes each tile in its cycle, the lowest of one cycle first") {
    struct Tile : ports::Sleeper {
        void wake() override {
            log->emplace_back(number, Clock::now());
            if (next > 0) {
                alarm->wake_at(number, std::exchange(next, 0));
            }
        }
        std::vector<std::pair<TileId, Cycles>>* log = nullptr;
        tile::Alarm* alarm = nullptr;
        TileId number = 0;
        Cycles next = 0;
    };
    std::vector<std::pair<TileId, Cycles>> log;
    tile::Alarm alarm("alarm");
    std::array<Tile, 3> tiles;
    for (TileId number = 0; number < 3; ++number) {
        tiles[number].log = &log;
        tiles[number].alarm = &alarm;
        tiles[number].number = number;
        alarm.tiles.bind(tiles[number]);
    }
    tiles[1].next = 50; // asked for while others wait
    tiles[0].next = 31;
    run_for(3);
    alarm.wake_at(2, 30);
    alarm.wake_at(1, 30);
    alarm.wake_at(0, 20);
    run_for(100);
    CHECK(log ==
          std::vector<std::pair<TileId, Cycles>>{{0, 20}, {1, 30}, {2, 30}, {0, 31}, {1, 50}});
}

TEST_CASE("two tiles that arrive at a barrier from different steps are told") {
    spec::MachineSpec spec;
    test::FakeWitness witness;
    sync::SyncUnit unit("sync_unit", spec, 4);
    unit.witness.bind(witness);
    run_for(5);
    unit.arrive(2, sync_in_step(1));
    CHECK_THROWS_WITH(unit.arrive(2, sync_in_step(1)),
                      "sync_unit: tile_2 arrives again at a barrier that 3 tiles have not reached");
    CHECK_THROWS_WITH(unit.arrive(1, sync_in_step(2)),
                      "sync_unit: unbalanced barrier at cycle 5: tile_1 is at a sync in step 2, "
                      "tile_2 at a sync in step 1");
    CHECK_THROWS_WITH(unit.arrive(3, {.purpose = Purpose::End, .step = 1}),
                      "sync_unit: unbalanced barrier at cycle 5: tile_2 is at a sync in step 1, "
                      "tile_3 at the end of the program after step 1");
    CHECK_THROWS_AS(unit.arrive(0, {.purpose = Purpose::Exchange, .step = 1, .exchange = 4}),
                    ProgramError);
    CHECK_THROWS_AS(unit.arrive(0, sync_in_step(1, program::SyncZone::host())), ProgramError);
}

TEST_CASE("an exchange moves its words when it opens and holds each tile for its own row") {
    test::HandProgram hand(test::four_tiles(), test::kStubs);
    hand.exchange(
        "send", {{0, 0x80000, 400, false, {{1, 0x90000}}}, {2, 0x80000, 4, false, {{3, 0x90000}}}});
    auto& program = hand.program();
    ipu::ChipMemory memory(hand.machine());
    for (const auto& row : program.exchanges[0].rows) {
        std::memcpy(memory.at(row.tile, row.address, static_cast<Bytes>(4 * row.words.size())),
                    row.words.data(), 4 * row.words.size());
    }
    exchange::ExchangeFabric fabric("exchange_fabric", hand.machine(), program.exchanges, memory,
                                    kInOrder);
    fabric.prepare();
    const std::uint32_t seven = 7;
    std::memcpy(memory.at(0, 0x80000 + 396, 4), &seven, 4);
    CHECK(fabric.open(0) == 404);
    std::uint32_t got = 0;
    std::memcpy(&got, memory.at(1, 0x90000 + 396, 4), 4);
    CHECK(got == 7);
    const Cycles prologue = hand.machine().exchange.prologue_cycles;
    CHECK(fabric.row_cycles(0, 1) >= prologue + 100);
    CHECK(fabric.row_cycles(0, 3) < prologue + 100);
    CHECK(fabric.row_cycles(0, 3) > prologue);
    CHECK(fabric.outcome(0).phase_cycles() ==
          std::max({fabric.row_cycles(0, 0), fabric.row_cycles(0, 1), fabric.row_cycles(0, 2),
                    fabric.row_cycles(0, 3)}));
    fabric.tell({0, 0x80000 + 396});
    CHECK(fabric.told().word == 7);
    CHECK(fabric.told().cycles == exchange::broadcast_cycles(hand.machine(), 0));
}

TEST_CASE(
    "a copy begins with its last tile, of several the earlier step first, and moves at its end") {
    test::HandProgram hand(test::four_tiles(), test::kStubs);
    auto& program = hand.program();
    program.remote_buffers.push_back({"rows", program::RemoteBuffer::Place::StreamingMemory, 4, 8});
    using Copy = program::StreamCopy;
    for (const TileId tile : {0U, 2U}) {
        program.stream_copies.push_back(
            {.name = "fetch",
             .buffer = 0,
             .direction = Copy::Direction::Read,
             .rows = 1,
             .pieces = {{tile, 0x80000, 4, 0}, {tile + 1, 0x80000, 4, 4}}});
    }
    struct Chip : ports::AtCopy {
        void copy_begun(const events::Flight& flight) override { begun.push_back(flight); }
        void copy_ended(const events::Flight& flight) override {
            CHECK(flight.end == Clock::now());
            ended.push_back(flight);
        }
        std::vector<events::Flight> begun;
        std::vector<events::Flight> ended;
    } chip;
    test::FakeWitness witness;
    ipu::ChipMemory memory(hand.machine());
    memory::StreamPorts links("stream_ports", hand.machine(), program, memory);
    links.at_copy.bind(chip);
    links.witness.bind(witness);
    const std::uint32_t seven = 7;
    std::memcpy(links.remote_memory().buffer(0).data() + 8 + 4, &seven, 4);
    run_for(3);
    links.arrive(1, {.copy = 0, .row = 1, .step = 2});
    run_for(10);
    CHECK(chip.begun.empty());
    links.arrive(3, {.copy = 1, .row = 0, .step = 9});
    links.arrive(2, {.copy = 1, .row = 0, .step = 9});
    links.arrive(0, {.copy = 0, .row = 1, .step = 2});
    run_for(1);
    REQUIRE(chip.begun.size() == 2);
    CHECK(chip.begun[0].copy == 0);
    CHECK(chip.begun[0].begin == 13);
    CHECK(chip.begun[1].begin == 13);
    CHECK(chip.begun[1].service_begin == chip.begun[0].service_end);
    CHECK(links.begun(1).last == 2);
    CHECK(links.times_ended(0) == 0);
    std::uint32_t got = 0;
    std::memcpy(&got, memory.at(1, 0x80000, 4), 4);
    CHECK(got == 0);
    run_for(chip.begun[1].end);
    REQUIRE(chip.ended.size() == 2);
    CHECK(chip.ended[0].copy == 0);
    CHECK(chip.ended[0].bytes == 8);
    CHECK(links.times_ended(0) == 1);
    std::memcpy(&got, memory.at(1, 0x80000, 4), 4);
    CHECK(got == 7);
    CHECK(witness.failures.empty());
    // Tile 0 and 1 have not left copy 0.
    CHECK(links.any_under_way());
    for (const TileId tile : {0U, 1U}) {
        links.left(tile, 0);
        links.left(tile + 2, 1);
    }
    CHECK_FALSE(links.any_under_way());
    links.arrive(0, {.copy = 0, .row = 0, .step = 10});
    CHECK_THROWS_WITH(links.arrive(1, {.copy = 0, .row = 1, .step = 10}),
                      "stream_ports: tile_1 calls for row 1 of copy 0 in step 10, others for row 0 "
                      "in step 10");
}
