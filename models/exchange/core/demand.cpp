// SPDX-License-Identifier: MIT
#include "models/exchange/core/demand.h"

#include "base/error.h"
#include "models/timing/exchange_bound.h"
#include "models/timing/tile_position.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::exchange {

Cycles Demand::bound() const {
    Cycles most = 0;
    for (const auto* lanes : {&in, &out})
        for (const Cycles cycles : *lanes)
            most = std::max(most, cycles);
    return most;
}

Demand demand_of(const spec::MachineSpec& machine, const program::Exchange& exchange) {
    const auto tiles = static_cast<std::size_t>(machine.chip.tiles);
    Demand demand{std::vector<Cycles>(tiles), std::vector<Cycles>(tiles)};
    const auto add = [&](std::vector<Cycles>& lanes, TileId tile, Cycles cycles) {
        if (tile >= tiles)
            throw ProgramError(fmt::format("exchange {}: got a transfer with tile {}, expected "
                                           "0..{}",
                                           exchange.name, tile, tiles - 1));
        lanes[tile] += cycles;
    };
    // Counted apart from timing::exchange_bound, which the planner goes by.
    const std::int64_t lane_bytes = 4 * machine.exchange.lane_items();
    for (const auto& run : timing::transfer_runs(machine, exchange.transfers)) {
        const auto& transfer = exchange.transfers[run.first];
        const bool wide = run.wide;
        const Bytes width = wide ? 2 * lane_bytes : lane_bytes;
        const Cycles cycles = (run.bytes + width - 1) / width;
        add(demand.out, transfer.source_tile, cycles);
        const auto partner = timing::partner_tile(machine.chip, transfer.source_tile);
        if (wide && partner)
            add(demand.out, *partner, cycles);
        for (const auto& destination : transfer.destinations)
            add(demand.in, destination.tile, cycles);
    }
    return demand;
}

} // namespace tessera::exchange
