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
#include <exception>

namespace tessera::exchange {

namespace {

constexpr std::size_t kAtOnce = 16; ///< items of a host thread

/// Calls `body` with 0 .. items - 1, some at once on one thread; what it throws for the least number
/// is thrown.
template <class Body> void for_all(const ForEach& for_each, std::size_t items, const Body& body) {
    std::vector<std::exception_ptr> failures((items + kAtOnce - 1) / kAtOnce);
    for_each(failures.size(), [&](std::size_t some) {
        try {
            for (std::size_t i = some * kAtOnce; i < std::min(items, (some + 1) * kAtOnce); ++i)
                body(i);
        } catch (...) {
            failures[some] = std::current_exception();
        }
    });
    for (const auto& failure : failures)
        if (failure != nullptr)
            std::rethrow_exception(failure);
}

std::vector<RowWalk> walk_rows(const spec::MachineSpec& machine, const program::Exchange& exchange,
                               const RowReader& read_row, const ForEach& for_each) {
    for (std::size_t i = 0; i < exchange.rows.size(); ++i) {
        const TileId tile = exchange.rows[i].tile;
        if (static_cast<std::int64_t>(tile) >= machine.chip.tiles ||
            (i > 0 && exchange.rows[i - 1].tile >= tile))
            throw ProgramError(fmt::format("exchange {}: row of tile {}: expected ascending tiles "
                                           "0..{}",
                                           exchange.name, tile, machine.chip.tiles - 1));
    }
    std::vector<RowWalk> walks(exchange.rows.size());
    for_all(for_each, walks.size(), [&](std::size_t i) {
        const auto& row = exchange.rows[i];
        std::vector<std::uint32_t> words(row.words.size());
        read_row(row.tile, row.address, words);
        walks[i] = walk_row(machine, exchange.name, row.tile, row.address, words);
    });
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
    [[nodiscard]] std::vector<CopyRun> joined(TileId tile) const {
        std::vector<std::uint64_t> keys;
        std::vector<std::uint64_t> scratch;
        std::vector<CopyRun> sorted;
        sort_items(
            of(tile), [](const CopyRun& run) { return run.destination_address; }, keys, scratch,
            sorted);
        std::vector<CopyRun> joined;
        for (const auto& run : sorted)
            append(joined, run);
        return joined;
    }

private:
    std::vector<CopyRun> copies_; ///< of tile 0, then of tile 1, ...
    std::vector<std::size_t> begin_;
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
                             const std::vector<Arrival>& arrivals, const PlannedCopies& planned) {
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
                           const RowReader& read_row, const ForEach& for_each) {
    const Phase phase{machine, exchange.name, walk_rows(machine, exchange, read_row, for_each)};
    const PlannedCopies planned{machine, exchange};
    const TileId pair_bit = phase.timing().grid().pair_bit();
    std::vector<TileId> pairs;
    for (TileId tile = 0; tile < phase.tiles(); ++tile)
        if ((tile & pair_bit) == 0)
            pairs.push_back(tile);
    std::vector<std::vector<CopyRun>> copies(phase.tiles());
    std::vector<std::exception_ptr> failures(phase.tiles());
    for_all(for_each, pairs.size(), [&](std::size_t pair) {
        PairArrivals arrivals{pair_bit};
        TileId at = pairs[pair];
        try {
            arrivals.find(phase, at);
            for (const TileId tile : {at, at | pair_bit}) {
                at = tile;
                if (const auto* walk = phase.walk_of(tile); walk != nullptr)
                    copies[tile] = receive(phase, *walk, arrivals.of(tile), planned);
            }
        } catch (...) {
            failures[at] = std::current_exception();
        }
    });
    FabricOutcome outcome;
    outcome.copies.reserve(planned.size());
    for (TileId tile = 0; tile < phase.tiles(); ++tile) {
        if (failures[tile] != nullptr)
            std::rethrow_exception(failures[tile]);
        const auto* walk = phase.walk_of(tile);
        if (walk == nullptr)
            continue;
        for (const auto& copy : copies[tile]) {
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
                        const RowReader& read_row, const Demand& demand, const ForEach& for_each) {
    switch (machine.exchange.fabric) {
    case spec::Fabric::Compiled:
        return execute_rows(machine, exchange, read_row, for_each);
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
                           const RowReader& read_row, const ForEach& for_each) {
    const Demand demand = demand_of(machine, exchange);
    FabricOutcome outcome = run_named(machine, exchange, read_row, demand, for_each);
    outcome.bound_cycles = demand.bound();
    for (const TileId tile : outcome.tiles) {
        outcome.lane_in.push_back(demand.in[tile]);
        outcome.lane_out.push_back(demand.out[tile]);
    }
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
