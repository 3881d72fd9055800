// SPDX-License-Identifier: MIT
// When an exchanged word arrives: pure functions over positions and the machine spec.
// Events are counted on each tile's own clock from its release by the phase's sync.
// Source: docs/models/exchange.md#latency (ipu21; taken as equal on GC200 and Bow).
#pragma once

#include "base/units.h"
#include "models/spec/machine_spec.h"
#include "models/timing/tile_position.h"

#include <cstdlib>

namespace tessera::timing {

/// What the route from one tile to another costs.
struct Route {
    Cycles latency = 0;     ///< L: events from sending to the receiver's pointer
    unsigned direction = 0; ///< 1 or 2: the bus on which the word must be sent
};

[[nodiscard]] inline Route route(const TilePosition& from, const TilePosition& to) {
    // Columns are folded: 0..7 run out, 8..15 run back beside them.
    const int from_fold = from.column < 8 ? from.column : 15 - from.column;
    const int to_fold = to.column < 8 ? to.column : 15 - to.column;
    const int from_half = from.column / 8;
    const int to_half = to.column / 8;
    const int turn = from_half == to_half ? from.column % 8 + 1 : 16 - from.column % 8;
    const int entry = to.sub >= 2 ? (to_half == (to.sub & 1) ? 2 : 4) : (to_half == to.sub ? 1 : 5);
    const int displacement = 6 * (to_fold - from_fold - (from_half ^ (from.sub & 1))) + entry;
    const int latency = 21 + 8 * from_half - to.column + 4 * (from_fold - to_fold) + turn +
                        std::abs(displacement) + 2 * from.row;
    return {latency, displacement <= 0 ? 2U : 1U};
}

/// The routes of one chip with the spec's mux and pointer distances.
class ExchangeTiming {
public:
    explicit ExchangeTiming(const spec::MachineSpec& machine)
        : grid_(machine), mux_to_pointer_(machine.exchange.mux_to_pointer_cycles),
          mux_to_pointer_row_(machine.exchange.mux_to_pointer_row_cycles) {}

    [[nodiscard]] const TileGrid& grid() const { return grid_; }

    /// Events from a mux control on `tile` to the pointer that takes its first word.
    [[nodiscard]] Cycles mux_to_pointer(TileId tile) const {
        return mux_to_pointer_ + mux_to_pointer_row_ * grid_.position(tile).row;
    }
    /// L: events from sending to the receiver's pointer, 18 to 164 on 1472 tiles.
    [[nodiscard]] Cycles latency(TileId from, TileId to) const {
        return route(grid_.position(from), grid_.position(to)).latency;
    }
    /// T = L - mux_to_pointer: events from sending to the receiver's mux; negative for most pairs.
    [[nodiscard]] Cycles mux_offset(TileId from, TileId to) const {
        return latency(from, to) - mux_to_pointer(to);
    }
    struct Way {
        Cycles mux_offset = 0;
        unsigned direction = 0;
    };
    /// `mux_offset` and `direction` at once.
    [[nodiscard]] Way way(TileId from, TileId to) const {
        const auto found = route(grid_.position(from), grid_.position(to));
        return {found.latency - mux_to_pointer(to), found.direction};
    }
    /// 1 or 2: the direction bit that the sender must set for `to` to hear it.
    [[nodiscard]] unsigned direction(TileId from, TileId to) const {
        return route(grid_.position(from), grid_.position(to)).direction;
    }

private:
    TileGrid grid_;
    Cycles mux_to_pointer_;
    Cycles mux_to_pointer_row_;
};

} // namespace tessera::timing
