// SPDX-License-Identifier: MIT
// What an exchange costs beside the words of its busiest tile, on each fabric: exactly what is the
// same for all, and an estimate of the way for those who choose before they plan.
#pragma once

#include "base/units.h"
#include "models/spec/machine_spec.h"
#include "models/timing/tile_position.h"

namespace tessera::plan {

/// Around the longest row, or what stands for it: its call and its return.
[[nodiscard]] inline Cycles row_overhead(const spec::ExchangeSpec& exchange) {
    switch (exchange.fabric) {
    case spec::Fabric::Compiled:
        return exchange.prologue_cycles + exchange.row_return_cycles;
    case spec::Fabric::Mesh:
    case spec::Fabric::Ring:
        return exchange.prologue_cycles;
    case spec::Fabric::Bound:
        break;
    }
    return 0;
}

/// That and a typical way. Compiled: a word waits for its receiver's mux, goes from the mux to the
/// pointer and crosses the chip, and the row stays alive behind it; what the mux and the crossing
/// take together is fitted to planned exchanges of a whole chip.
[[nodiscard]] inline Cycles exchange_overhead(const spec::MachineSpec& machine) {
    constexpr Cycles kCrossing = 72;
    const auto& exchange = machine.exchange;
    Cycles way = 0;
    if (exchange.fabric == spec::Fabric::Compiled) {
        way = kCrossing + exchange.mux_to_pointer_cycles + exchange.row_tail_cycles;
    } else if (exchange.fabric == spec::Fabric::Mesh) {
        // a third of each side of the grid
        way = exchange.hop_cycles * (timing::kTilesPerRow + timing::grid_rows(machine.chip.tiles)) /
              3;
    } else if (exchange.fabric == spec::Fabric::Ring) {
        way = exchange.hop_cycles * machine.chip.tiles / (2 * exchange.ring_directions);
    }
    return row_overhead(exchange) + way;
}

} // namespace tessera::plan
