// SPDX-License-Identifier: MIT
#include "tests/system/four_tiles_paper.h"

#include "kernels/catalog/load.h"
#include "models/spec/load.h"
#include "tests/support/choose_matmul.h"
#include "tests/support/source_path.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <variant>

namespace tessera::test {
namespace {

config::ConfigPaths paths() {
    return {{source_path("configs")}};
}

} // namespace

std::string output_of(const std::string& options, const Overrides& overrides) {
    std::string command = "TESSERA_CONFIGS='" + source_path("configs") +
                          "' '" TESSERA_BINARY "' run four_tiles --machine tiny" + options;
    for (const auto& set : overrides) {
        command += " --set " + set;
    }
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    REQUIRE(pipe != nullptr);
    std::string text;
    std::array<char, 4096> part{};
    while (const std::size_t bytes = fread(part.data(), 1, part.size(), pipe.get())) {
        text.append(part.data(), bytes);
    }
    return text;
}

Paper::Paper(const Overrides& overrides)
    : machine(spec::load_machine("tiny", paths(), overrides).spec),
      workload(std::get<workload::MatmulWorkload>(
          catalog::load_workload("four_tiles", paths()).workload.kind)),
      program(test::choose_matmul(machine, workload).lowered.program), timing(machine) {
    REQUIRE(program.exchanges.size() == 1);
    REQUIRE(program.exchanges[0].transfers.size() == 1);
    REQUIRE(program.compute_sets.size() == 1);
    for (TileId tile = 0; tile < 4; ++tile) {
        listings.emplace_back(program, tile);
        tiles.push_back(sheet(tile));
    }
}

Cycles Paper::wait_events() const {
    Cycles wait = 0;
    for (const auto& to : transfer().destinations) {
        wait = std::max(wait, -timing.mux_offset(transfer().source_tile, to.tile));
    }
    return wait;
}

by_hand::WorkerChoices Paper::choices(TileId tile, Address entry, std::int64_t worker) const {
    if (entry == program.codelets[0].symbols.at("copy64")) {
        REQUIRE(tile == transfer().source_tile);
        return {{}, share_of(transfer().bytes / 8, worker)};
    }
    const std::int64_t rows = share_of(workload.m, worker);
    if (rows >= 2) {
        return {{false}, rows - 2};
    }
    return {{true, rows < 1}, 0};
}

Cycles Paper::slowest(Cycles TileSheet::*part) const {
    Cycles most = 0;
    for (const TileSheet& tile : tiles) {
        most = std::max(most, tile.*part);
    }
    return most;
}

Cycles Paper::sum(Cycles TileSheet::*part) const {
    Cycles all = 0;
    for (const TileSheet& tile : tiles) {
        all += tile.*part;
    }
    return all;
}

std::int64_t Paper::worker_issues(TileId tile) const {
    std::int64_t issues = 0;
    for (const auto& launch : tiles[tile].stub.launches) {
        for (const auto& run : launch.workers) {
            issues += run.issues;
        }
    }
    return issues;
}

Cycles Paper::idle(TileId tile) const {
    const TileSheet& last = tiles[critical()];
    return last.exchange + last.compute - tiles[tile].exchange - tiles[tile].compute;
}

Cycles Paper::cycles() const {
    const TileSheet& last = tiles[critical()];
    return machine.sync.internal_cycles + last.exchange + last.compute;
}

TileId Paper::critical() const {
    TileId last = 0;
    for (TileId tile = 0; tile < tiles.size(); ++tile) {
        if (tiles[tile].exchange + tiles[tile].compute >
            tiles[last].exchange + tiles[last].compute) {
            last = tile;
        }
    }
    return last;
}

/// Work is dealt evenly; the first workers take what is left over.
std::int64_t Paper::share_of(std::int64_t units, std::int64_t worker) const {
    const std::int64_t workers = machine.tile.workers;
    return units / workers + (worker < units % workers ? 1 : 0);
}

Cycles Paper::row_events_of(TileId tile) const {
    const Cycles last_sent = wait_events() + words();
    const TileId source = transfer().source_tile;
    if (tile == source) {
        return last_sent;
    }
    return last_sent + timing.latency(source, tile) + machine.exchange.row_tail_cycles;
}

TileSheet Paper::sheet(TileId tile) const {
    const by_hand::Listing& code = listings[tile];
    const auto issues_of = [&](Address entry, std::int64_t worker) {
        return by_hand::walk_worker(machine.tile, code, entry, choices(tile, entry, worker)).issues;
    };
    TileSheet made;
    made.stub = by_hand::walk_supervisor(machine.tile, code,
                                         program.compute_sets[0].tiles[tile].stub, issues_of);
    made.compute = machine.control.step_cycles + made.stub.cycles;
    made.row_events = row_events_of(tile);
    made.exchange =
        machine.exchange.prologue_cycles + made.row_events + machine.exchange.row_return_cycles;
    return made;
}

} // namespace tessera::test
