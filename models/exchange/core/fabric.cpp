// SPDX-License-Identifier: MIT
#include "models/exchange/core/fabric.h"

#include "base/error.h"
#include "base/sort_keys.h"
#include "models/exchange/core/arrival.h"
#include "models/exchange/core/demand.h"
#include "models/exchange/core/landing.h"
#include "models/exchange/core/network.h"
#include "models/exchange/core/row_walk.h"
#include "models/exchange/core/transfer_copies.h"
#include "models/timing/control_timing.h"

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

/// Appends `run`, or joins it to the last one where it continues that at both ends.
void append(std::vector<CopyRun>& runs, const CopyRun& run) {
    if (!runs.empty()) {
        auto& last = runs.back();
        if (last.source_tile == run.source_tile &&
            last.source_address + last.bytes == run.source_address &&
            last.destination_address + last.bytes == run.destination_address) {
            last.bytes += run.bytes;
            return;
        }
    }
    runs.push_back(run);
}

std::string text_of(const CopyRun& run) {
    return fmt::format("{} bytes from tile {} 0x{:x} at 0x{:x}", run.bytes, run.source_tile,
                       run.source_address, run.destination_address);
}

/// What the transfers ask for, by receiving tile.
class PlannedCopies {
public:
    PlannedCopies(const spec::MachineSpec& machine, const program::Exchange& exchange)
        : begin_(static_cast<std::size_t>(machine.chip.tiles) + 1) {
        const auto tiles = begin_.size() - 1;
        for (const auto& transfer : exchange.transfers)
            for (const auto& destination : transfer.destinations) {
                if (destination.tile >= tiles)
                    throw ProgramError(fmt::format("exchange {}: transfer to tile {}, expected "
                                                   "0..{}",
                                                   exchange.name, destination.tile, tiles - 1));
                ++begin_[destination.tile];
            }
        // Counts become ends, and beginnings when the parts are filled from behind.
        for (std::size_t tile = 1; tile <= tiles; ++tile)
            begin_[tile] += begin_[tile - 1];
        copies_.resize(begin_[tiles]);
        for (auto at = exchange.transfers.rbegin(); at != exchange.transfers.rend(); ++at)
            for (auto to = at->destinations.rbegin(); to != at->destinations.rend(); ++to)
                copies_[--begin_[to->tile]] = {at->source_tile, at->source_address, to->tile,
                                               to->address, at->bytes};
    }

    [[nodiscard]] std::size_t size() const { return copies_.size(); }
    [[nodiscard]] std::span<const CopyRun> of(TileId tile) const {
        return {copies_.data() + begin_[tile], copies_.data() + begin_[tile + 1]};
    }

    /// Those of `tile` by address, joined where they continue each other at both ends.
    [[nodiscard]] const std::vector<CopyRun>& joined(TileId tile) {
        sort_items(
            of(tile), [](const CopyRun& run) { return run.destination_address; }, keys_, scratch_,
            sorted_);
        joined_.clear();
        for (const auto& run : sorted_)
            append(joined_, run);
        return joined_;
    }

private:
    std::vector<CopyRun> copies_; ///< of tile 0, then of tile 1, ...
    std::vector<std::size_t> begin_;
    std::vector<std::uint64_t> keys_;
    std::vector<std::uint64_t> scratch_;
    std::vector<CopyRun> sorted_;
    std::vector<CopyRun> joined_;
};

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

void check_rowless(const Phase& phase, const PlannedCopies& planned) {
    for (TileId tile = 0; tile < phase.tiles(); ++tile)
        if (phase.walk_of(tile) == nullptr && !planned.of(tile).empty())
            phase.fail(tile, 0,
                       fmt::format("planned {}, but the tile has no row",
                                   text_of(planned.of(tile).front())));
}

/// The copies that a tile's row and arrivals come to, ascending in addresses.
std::vector<CopyRun> receive(const Phase& phase, const RowWalk& walk,
                             const std::vector<Arrival>& arrivals, PlannedCopies& planned) {
    auto landings = find_landings(phase, walk, arrivals);
    check_elements(phase, walk, landings);
    sort_by_address(landings);
    check_overlap(phase, walk, landings);
    std::vector<CopyRun> copies;
    copies.reserve(landings.size());
    for (const auto& landing : landings)
        append(copies, {landing.arrival.source, landing.arrival.source_address, walk.tile,
                        landing.address, landing.arrival.bytes()});
    check_planned(phase, walk.tile, planned.joined(walk.tile), copies, landings);
    return copies;
}

} // namespace

FabricOutcome execute_rows(const spec::MachineSpec& machine, const program::Exchange& exchange,
                           const RowReader& read_row) {
    const Phase phase{machine, exchange.name, walk_rows(machine, exchange, read_row)};
    PlannedCopies planned{machine, exchange};
    const TileId pair_bit = phase.timing().grid().pair_bit();
    std::vector<PairArrivals> pairs(pair_bit, PairArrivals{pair_bit}); // those under way
    FabricOutcome outcome;
    outcome.copies.reserve(planned.size());
    for (TileId tile = 0; tile < phase.tiles(); ++tile) {
        PairArrivals& arrivals = pairs[tile % pair_bit];
        if ((tile & pair_bit) == 0)
            arrivals.find(phase, tile);
        const auto* walk = phase.walk_of(tile);
        if (walk == nullptr)
            continue;
        for (const auto& copy : receive(phase, *walk, arrivals.of(tile), planned)) {
            outcome.bytes += copy.bytes;
            outcome.copies.push_back(copy);
        }
        for (const auto& run : walk->sends)
            outcome.words_sent += run.items * run.item_bytes() / 4;
        outcome.tiles.push_back(tile);
        outcome.row_cycles.push_back(walk->events + machine.exchange.row_return_cycles);
    }
    check_wide_senders(phase);
    check_rowless(phase, planned);
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

Cycles broadcast_cycles(const spec::MachineSpec& machine, TileId from) {
    if (machine.exchange.fabric == spec::Fabric::Compiled)
        return timing::word_broadcast_cycles(machine, from);
    const Address anywhere = machine.memory.region0_begin();
    program::Transfer word{from, anywhere, 4, false, {}};
    for (TileId to = 0; to < static_cast<TileId>(machine.chip.tiles); ++to)
        if (to != from)
            word.destinations.push_back({to, anywhere});
    if (word.destinations.empty())
        return 0;
    return run_exchange(machine, {"word", {std::move(word)}, {}}, {}).phase_cycles();
}

Cycles FabricOutcome::phase_cycles() const {
    return row_cycles.empty()
               ? 0
               : prologue_cycles + *std::max_element(row_cycles.begin(), row_cycles.end());
}

} // namespace tessera::exchange
