// SPDX-License-Identifier: MIT
// What the control program pays beside its steps.
#pragma once

#include "base/units.h"
#include "models/spec/machine_spec.h"
#include "models/timing/exchange_latency.h"

#include <algorithm>

namespace tessera::timing {

/// Cycles of a phase in which `from` sends one word to every other tile: the call of the row, the
/// wait until the word meets every receiver's mux no earlier than its row can set it, the longest
/// way, and the row's end. Source: docs/evidence.md#control
[[nodiscard]] inline Cycles word_broadcast_cycles(const spec::MachineSpec& machine, TileId from) {
    const ExchangeTiming exchange(machine);
    Cycles longest = 0;
    Cycles send_event = 1;
    for (TileId to = 0; to < static_cast<TileId>(machine.chip.tiles); ++to) {
        if (to != from) {
            longest = std::max(longest, exchange.latency(from, to));
            send_event = std::max(send_event, 1 - exchange.mux_offset(from, to));
        }
    }
    return machine.exchange.prologue_cycles + send_event + longest +
           machine.exchange.row_tail_cycles + machine.exchange.row_return_cycles;
}

} // namespace tessera::timing
