// SPDX-License-Identifier: MIT
// Small programs whose cost shows what a machine parameter moves.
#pragma once

#include "kernels/catalog/load.h"
#include "kernels/job/job.h"
#include "kernels/lower/control_code.h"
#include "models/simulation/simulation.h"
#include "sim/run/unused_parameters.h"
#include "tests/component/hand_program.h"
#include "tests/system/chip_programs.h"
#include "tests/unit/base/config/scratch.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace tessera::test {

/// What a scene costs on a machine; in `parts` what its program has.
using Scene = std::function<Cycles(const spec::MachineSpec&, std::set<std::string>& parts)>;

inline Cycles simulate(const spec::MachineSpec& machine, const program::Program& program,
                       std::set<std::string>& parts) {
    parts = run::parts_of(program);
    simulation::Simulation simulation(machine, program, {});
    simulation.run();
    return simulation.account().cycles();
}

/// Of the chip that ends last.
inline Cycles simulate(ChipPrograms& chips, std::set<std::string>& parts) {
    const program::SystemProgram& system = chips.finished();
    parts = run::parts_of(system.of_chip(0));
    simulation::Simulation simulation(chips.machine(), system, options_of(chips));
    simulation.run();
    Cycles last = 0;
    for (std::size_t chip = 0; chip < simulation.chips(); ++chip) {
        last = std::max(last, simulation.account(chip).cycles());
    }
    return last;
}

/// So many bytes from each tile of a chip to that of another.
inline Scene messages_scene(std::size_t from, std::size_t to, Bytes bytes) {
    return [=](const spec::MachineSpec& machine, std::set<std::string>& parts) {
        ChipPrograms chips(machine);
        for (TileId tile = 0; tile < machine.chip.tiles; ++tile) {
            chips.message("messages", {from, tile}, {to, tile}, bytes);
        }
        chips.all_link("messages");
        return simulate(chips, parts);
    };
}

/// A sync in each of so many zones of all chips.
inline Scene zones_scene(std::uint32_t zones) {
    return [=](const spec::MachineSpec& machine, std::set<std::string>& parts) {
        ChipPrograms chips(machine);
        for (std::uint32_t zone = 0; zone < zones; ++zone) {
            if (zone > 0) {
                chips.all_in_one_zone();
            }
            for (std::size_t chip = 0; chip < chips.hands.size(); ++chip) {
                chips.then(chip, ChipPrograms::sync_step(zone));
            }
        }
        return simulate(chips, parts);
    };
}

inline Scene workload_scene(const std::string& text) {
    return [text](const spec::MachineSpec& machine, std::set<std::string>& parts) {
        const auto loaded = catalog::load_workload(config::parse_document(text, "scene"), "scene",
                                                   source_paths(), {});
        const auto job = job::make_job(loaded.workload);
        return simulate(machine, job->plan(machine), parts);
    };
}

inline Scene matmul_scene(int m) {
    return workload_scene(R"({"schema_version": 1, "kind": "matmul", "m": )" + std::to_string(m) +
                          R"(, "k": 96, "n": 48, "partials": "f16"})");
}

inline Scene sync_scene() {
    return workload_scene(R"({"schema_version": 1, "kind": "sync", "repeats": 3})");
}

inline Scene host_scene() {
    return workload_scene(
        R"({"schema_version": 1, "kind": "host_transfer", "direction": "read", "bytes": 4096})");
}

inline const char* const kCode = R"(
.supervisor
.globl supervisor_only, all_workers, unaligned, own_element, region1, endless, next_element
.globl worker_next_element, supervisor_long
supervisor_only:
    setzi $m0, 50
1:  brnzdec $m0, 1b
    br $lr
supervisor_long: // more than a million cycles
    ldconst $m0, 1 << 18
1:  brnzdec $m0, 1b
    br $lr
all_workers:
    setzi $m0, worker
    runall $m0, $mzero, 0
    sync TEXCH_SYNCZONE_LOCAL
    br $lr
unaligned:
    setzi $m0, jumper
    run $m0, $mzero, 0
    sync TEXCH_SYNCZONE_LOCAL
    br $lr
region1:
    setzi $m1, 0x80000
    ld32 $m0, $m1, $mzero, 0
    br $lr
second_element:
    setzi $m1, 0x50000
    ld32 $m0, $m1, $mzero, 0
    br $lr
own_element:
    setzi $m1, own_element
    ld32 $m0, $m1, $mzero, 0
    br $lr
next_element:
    setzi $m1, TMEM_REGION0_BASE_ADDR + 1024
    ld32 $m0, $m1, $mzero, 0
    br $lr
worker_next_element:
    setzi $m0, next_reader
    run $m0, $mzero, 0
    sync TEXCH_SYNCZONE_LOCAL
    br $lr
.worker
.align 8
next_reader:
    setzi $m1, TMEM_REGION0_BASE_ADDR + 1024
    ld32 $m0, $m1, $mzero, 0
    exitz $mzero
.align 8
worker:
    setzi $m0, 3
1:  brnzdec $m0, 1b
    exitz $mzero
.align 8
jumper:
    bri 1f
1:  { nop ; fnop }
    exitz $mzero
)";

inline Scene code_scene(const std::string& symbol) {
    return [symbol](const spec::MachineSpec& machine, std::set<std::string>& parts) {
        HandProgram hand(machine, kCode);
        hand.then_compute(hand.compute_set("code", {{0, symbol}}));
        return simulate(machine, hand.program(), parts);
    };
}

inline program::Transfer transfer(TileId from, Bytes bytes, const std::vector<TileId>& to) {
    program::Transfer made;
    made.source_tile = from;
    made.source_address = 0x80000;
    made.bytes = bytes;
    made.paired = to.size() % 2 == 0;
    for (const TileId tile : to) {
        made.destinations.push_back({tile, 0x90000});
    }
    return made;
}

inline constexpr Bytes kMessage = 2048;

/// A message from tile 0 to others.
inline Scene exchange_scene(const std::vector<TileId>& to) {
    return [to](const spec::MachineSpec& machine, std::set<std::string>& parts) {
        HandProgram hand(machine, kCode);
        hand.then_exchange(hand.exchange("message", {transfer(0, kMessage, to)}));
        return simulate(machine, hand.program(), parts);
    };
}

/// Bytes of the rows of a message to one tile.
inline Scene rows_scene(Bytes bytes) {
    return [bytes](const spec::MachineSpec& machine, std::set<std::string>& /*parts*/) {
        return exchange_plan::plan_exchange_with_stats(machine, "rows", {transfer(0, bytes, {3})})
            .stats.row_bytes;
    };
}

/// Events of the longest row of a broadcast of a few words to all tiles.
inline Cycles broadcast_events(const spec::MachineSpec& machine, std::set<std::string>& /*parts*/) {
    std::vector<TileId> to;
    for (TileId tile = 1; tile < static_cast<TileId>(machine.chip.tiles); ++tile) {
        to.push_back(tile);
    }
    return exchange_plan::plan_exchange_with_stats(machine, "broadcast", {transfer(0, 64, to)})
        .stats.longest_row_events;
}

/// Events of the longest row of single words between tiles of all columns and rows.
inline Cycles longest_route_events(const spec::MachineSpec& machine,
                                   std::set<std::string>& /*parts*/) {
    Cycles longest = 0;
    const auto tiles = static_cast<TileId>(machine.chip.tiles);
    for (TileId from = 0; from < tiles; from += 9) {
        for (TileId to = 1; to < tiles; to += 9) {
            const auto planned =
                exchange_plan::plan_exchange_with_stats(machine, "word", {transfer(from, 4, {to})});
            longest = std::max(longest, planned.stats.longest_row_events);
        }
    }
    return longest;
}

inline constexpr std::int64_t kRowBytes = 65536;
inline constexpr std::int64_t kRows = 16;

/// Copies of a row in the background, all started before the first is waited for.
inline Scene copies_scene(program::RemoteBuffer::Place place,
                          const std::vector<program::StreamCopy::Direction>& directions) {
    return [=](const spec::MachineSpec& machine, std::set<std::string>& parts) {
        HandProgram hand(machine, kCode);
        auto& program = hand.program();
        program.remote_buffers.push_back({"far", place, kRows, kRowBytes});
        for (TileId tile = 0; tile < directions.size(); ++tile) {
            program.io_tiles.push_back(tile);
            program.stream_copies.push_back({"copy " + std::to_string(tile),
                                             0,
                                             directions[tile],
                                             1,
                                             {{tile, 0x80000, kRowBytes, 0}}});
            auto start = HandProgram::step(program::Step::Kind::StreamStart, tile);
            start.row = tile;
            hand.then(start);
        }
        for (TileId tile = 0; tile < directions.size(); ++tile) {
            hand.then(HandProgram::step(program::Step::Kind::StreamWait, tile));
        }
        return simulate(machine, program, parts);
    };
}

/// One of everything that a control program has, and how often.
inline constexpr Cycles kRounds = 3;
inline constexpr Cycles kCalls = 2;
inline constexpr Cycles kLooks = 2; // of an if and of a while, at a word that is 0
inline constexpr Cycles kSets = kRounds + kCalls;
inline constexpr Cycles kExchanges = 1;
inline constexpr Cycles kBarriers = kLooks + kExchanges + 1;

inline constexpr Cycles kZones = 3;
inline constexpr Cycles kSetsInText = 3 + kCalls; // calls as well

inline HandProgram control_program(const spec::MachineSpec& machine) {
    HandProgram hand(machine, kCode);
    const auto work = HandProgram::step(program::Step::Kind::ComputeSet,
                                        hand.compute_set("work", {{0, "supervisor_only"}}));
    auto repeat = HandProgram::step(program::Step::Kind::Repeat, 0, {work});
    repeat.count = kRounds;
    hand.then(repeat);
    hand.program().functions.push_back({"body", work});
    for (Cycles call = 0; call < kCalls; ++call) {
        hand.then(HandProgram::step(program::Step::Kind::Call));
    }
    for (const program::Step::Kind kind : {program::Step::Kind::If, program::Step::Kind::While}) {
        auto look = HandProgram::step(kind, 0, {work});
        look.value = program::TileValue{1, 0x80000};
        hand.then(look);
    }
    hand.then_exchange(hand.exchange("message", {transfer(0, kMessage, {3})}));
    for (const auto zone :
         {program::SyncZone::chip(), program::SyncZone::group(0), program::SyncZone::host()}) {
        auto sync = HandProgram::step(program::Step::Kind::Sync);
        sync.zone = zone;
        hand.then(sync);
    }
    return hand;
}

inline Cycles control_scene(const spec::MachineSpec& machine, std::set<std::string>& parts) {
    return simulate(machine, control_program(machine).program(), parts);
}

/// Its bytes in tile memory.
inline Cycles control_bytes_scene(const spec::MachineSpec& machine, std::set<std::string>& parts) {
    const program::Program program = control_program(machine).program();
    parts = run::parts_of(program);
    return lower::control_bytes(machine.control, program.control);
}

/// Ten rounds of a while.
inline Cycles while_scene(const spec::MachineSpec& machine, std::set<std::string>& parts) {
    HandProgram hand(machine, R"(
.supervisor
.globl count
count:
    setzi $m1, 0x80000
    ld32 $m0, $m1, $mzero, 0
    add $m0, $m0, 1
    cmpeq $m2, $m0, 11
    movnz $m0, $m2, $mzero
    st32 $m0, $m1, $mzero, 0
    br $lr
)");
    const auto count = HandProgram::step(program::Step::Kind::ComputeSet,
                                         hand.compute_set("count", {{0, "count"}}));
    auto loop = HandProgram::step(program::Step::Kind::While, 0, {count});
    loop.value = program::TileValue{0, 0x80000};
    hand.then(count).then(loop);
    return simulate(machine, hand.program(), parts);
}

/// Code that only the third generation has.
inline Cycles fp8_scene(const spec::MachineSpec& machine, std::set<std::string>& parts) {
    HandProgram hand(machine, ".supervisor\n.globl none\nnone: br $lr\n.worker\n"
                              "f8v8hihov4amp $a0:1, $a2:3, $a4:5, 0\n");
    return simulate(machine, hand.program(), parts);
}

} // namespace tessera::test
