// SPDX-License-Identifier: MIT
#include "models/exchange/core/fabric.h"

#include "base/error.h"
#include "models/exchange/core/arrival.h"
#include "models/exchange/core/demand.h"
#include "models/exchange/core/landing.h"
#include "models/exchange/core/network.h"
#include "models/exchange/core/row_walk.h"
#include "models/exchange/core/transfer_copies.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::exchange {

namespace {

std::vector<RowWalk> walk_rows(const spec::MachineSpec& machine, const program::Exchange& exchange,
                               const RowReader& read_row) {
    std::vector<RowWalk> walks;
    walks.reserve(exchange.rows.size());
    std::vector<std::uint32_t> words;
    for (const auto& row : exchange.rows) {
        if (static_cast<std::int64_t>(row.tile) >= machine.chip.tiles ||
            (!walks.empty() && walks.back().tile >= row.tile))
            throw ProgramError(fmt::format("exchange {}: row of tile {}: expected ascending tiles "
                                           "0..{}",
                                           exchange.name, row.tile, machine.chip.tiles - 1));
        words.assign(row.words.size(), 0);
        read_row(row.tile, row.address, words);
        walks.push_back(walk_row(machine, exchange.name, row.tile, row.address, words));
    }
    return walks;
}

/// Sorts one tile's runs by address and joins those that continue each other at both ends.
std::vector<CopyRun> joined(std::vector<CopyRun> runs) {
    std::sort(runs.begin(), runs.end(), [](const CopyRun& a, const CopyRun& b) {
        return a.destination_address < b.destination_address;
    });
    std::vector<CopyRun> out;
    for (const auto& run : runs) {
        if (!out.empty() && out.back().source_tile == run.source_tile &&
            out.back().source_address + out.back().bytes == run.source_address &&
            out.back().destination_address + out.back().bytes == run.destination_address)
            out.back().bytes += run.bytes;
        else
            out.push_back(run);
    }
    return out;
}

std::string text_of(const CopyRun& run) {
    return fmt::format("{} bytes from tile {} 0x{:x} at 0x{:x}", run.bytes, run.source_tile,
                       run.source_address, run.destination_address);
}

std::vector<std::vector<CopyRun>> planned_copies(const spec::MachineSpec& machine,
                                                 const program::Exchange& exchange) {
    std::vector<std::vector<CopyRun>> planned(static_cast<std::size_t>(machine.chip.tiles));
    for (const auto& transfer : exchange.transfers) {
        for (const auto& destination : transfer.destinations) {
            if (destination.tile >= planned.size())
                throw ProgramError(fmt::format("exchange {}: transfer to tile {}, expected 0..{}",
                                               exchange.name, destination.tile,
                                               planned.size() - 1));
            planned[destination.tile].push_back({transfer.source_tile, transfer.source_address,
                                                 destination.tile, destination.address,
                                                 transfer.bytes});
        }
    }
    return planned;
}

void check_planned(const Phase& phase, TileId tile, const std::vector<CopyRun>& planned,
                   const std::vector<CopyRun>& got, const std::vector<Landing>& landings) {
    for (std::size_t i = 0; i < std::max(planned.size(), got.size()); ++i) {
        if (i < planned.size() && i < got.size() && planned[i] == got[i])
            continue;
        Cycles event = 0;
        for (const auto& landing : landings)
            if (i < got.size() && landing.address == got[i].destination_address)
                event = landing.arrival.first_event;
        phase.fail(tile, event,
                   fmt::format("received {}, planned {}",
                               i < got.size() ? text_of(got[i]) : "nothing more",
                               i < planned.size() ? text_of(planned[i]) : "nothing more"));
    }
}

} // namespace

FabricOutcome execute_rows(const spec::MachineSpec& machine, const program::Exchange& exchange,
                           const RowReader& read_row) {
    const Phase phase{machine, exchange.name, walk_rows(machine, exchange, read_row)};
    const auto arrivals = find_arrivals(phase);
    check_wide_senders(phase, arrivals);
    auto planned = planned_copies(machine, exchange);

    FabricOutcome outcome;
    for (const auto& walk : phase.walks()) {
        const auto landings = find_landings(phase, walk, arrivals[walk.tile]);
        check_memory(phase, walk, landings);
        std::vector<CopyRun> copies;
        for (const auto& landing : landings)
            copies.push_back({landing.arrival.source, landing.arrival.source_address, walk.tile,
                              landing.address, landing.arrival.bytes()});
        copies = joined(std::move(copies));
        check_planned(phase, walk.tile, joined(std::move(planned[walk.tile])), copies, landings);
        planned[walk.tile].clear();
        for (const auto& copy : copies)
            outcome.bytes += copy.bytes;
        outcome.copies.insert(outcome.copies.end(), copies.begin(), copies.end());
        for (const auto& run : walk.sends)
            outcome.words_sent += run.items * run.item_bytes() / 4;
        outcome.tiles.push_back(walk.tile);
        outcome.row_cycles.push_back(walk.events + machine.exchange.row_return_cycles);
    }
    for (TileId tile = 0; tile < planned.size(); ++tile)
        if (!planned[tile].empty())
            phase.fail(
                tile, 0,
                fmt::format("planned {}, but the tile has no row", text_of(planned[tile].front())));
    outcome.words_received = outcome.bytes / 4;
    outcome.prologue_cycles = machine.exchange.prologue_cycles;
    return outcome;
}

namespace {

/// Every tile is done as soon as its own lanes are.
FabricOutcome run_bound(const spec::MachineSpec& machine, const program::Exchange& exchange,
                        const Demand& demand) {
    FabricOutcome outcome = outcome_of_transfers(machine, exchange);
    for (std::size_t i = 0; i < outcome.tiles.size(); ++i) {
        const TileId tile = outcome.tiles[i];
        outcome.row_cycles[i] = std::max(demand.in[tile], demand.out[tile]);
    }
    return outcome;
}

FabricOutcome run_named(const spec::MachineSpec& machine, const program::Exchange& exchange,
                        const RowReader& read_row, const Demand& demand) {
    switch (machine.exchange.fabric) {
    case spec::Fabric::Compiled:
        return execute_rows(machine, exchange, read_row);
    case spec::Fabric::Bound:
        return run_bound(machine, exchange, demand);
    case spec::Fabric::Mesh:
        return run_mesh(machine, exchange);
    case spec::Fabric::Ring:
        return run_ring(machine, exchange);
    }
    TESSERA_ASSERT(!"every fabric is named above");
    return {};
}

} // namespace

FabricOutcome run_exchange(const spec::MachineSpec& machine, const program::Exchange& exchange,
                           const RowReader& read_row) {
    const Demand demand = demand_of(machine, exchange);
    FabricOutcome outcome = run_named(machine, exchange, read_row, demand);
    outcome.bound_cycles = demand.bound();
    return outcome;
}

Cycles FabricOutcome::phase_cycles() const {
    return row_cycles.empty()
               ? 0
               : prologue_cycles + *std::max_element(row_cycles.begin(), row_cycles.end());
}

} // namespace tessera::exchange
