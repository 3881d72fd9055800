// SPDX-License-Identifier: MIT
#include "kernels/plan/exchange_cost.h"

#include "models/timing/exchange_latency.h"
#include "models/timing/tile_position.h"

#include <algorithm>

namespace tessera::plan {
namespace {

/// Where there is no schedule: a third of each side of a grid, a quarter of a ring or half a line.
Cycles typical_hops(const spec::MachineSpec& machine) {
    const auto& exchange = machine.exchange;
    if (exchange.fabric == spec::Fabric::Mesh) {
        return exchange.hop_cycles *
               (timing::kTilesPerRow + timing::grid_rows(machine.chip.tiles)) / 3;
    }
    if (exchange.fabric == spec::Fabric::Ring) {
        return exchange.hop_cycles * machine.chip.tiles / (2 * exchange.ring_directions);
    }
    return 0;
}

/// The first word of a sender to each number of tiles.
struct Widening {
    Cycles start = 0;    ///< until no mux is late
    Cycles farthest = 0; ///< L
};

} // namespace

ExchangeCost::ExchangeCost(const spec::MachineSpec& machine)
    : fixed_(row_overhead(machine.exchange)) {
    if (machine.exchange.fabric != spec::Fabric::Compiled) {
        to_neighbours_ = to_all_over_ = {typical_hops(machine)};
        return;
    }
    fixed_ += machine.exchange.row_tail_cycles;
    const timing::ExchangeTiming timing(machine);
    const auto tiles = static_cast<TileId>(machine.chip.tiles);
    std::vector<Widening> from(tiles);
    Cycles neighbours = 0;
    Cycles all_over = 0;
    for (TileId to = 0; to < tiles; ++to) {
        Cycles sum = 0;
        const Cycles mux = timing.mux_to_pointer(to);
        for (TileId sender = 0; sender < tiles; ++sender) {
            if (sender == to) {
                continue;
            }
            const Cycles latency = timing.latency(sender, to);
            Widening& widest = from[sender];
            widest.start = std::max(widest.start, mux - latency);
            widest.farthest = std::max(widest.farthest, latency);
            all_over = std::max(all_over, widest.start + widest.farthest);
            sum += std::max(mux, latency);
        }
        neighbours = std::max(neighbours, tiles == 1 ? mux : sum / (machine.chip.tiles - 1));
        to_neighbours_.push_back(neighbours);
        to_all_over_.push_back(std::max(all_over, neighbours));
    }
}

std::size_t ExchangeCost::index(std::int64_t tiles) const {
    const auto last = static_cast<std::int64_t>(to_all_over_.size()) - 1;
    return static_cast<std::size_t>(std::clamp<std::int64_t>(tiles - 1, 0, last));
}

} // namespace tessera::plan
