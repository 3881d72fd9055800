// SPDX-License-Identifier: MIT
// When an exchanged word arrives: pure functions over positions and the machine spec.
// Events are counted on each tile's own clock from its release by the phase's sync.
//
//   L = route + |displacement| + fold * (sender's - receiver's folded column)
//       + step * (turn - receiver's column) + half (sender in columns 8..15) + row * sender's row
//   displacement = column * (columns along the bus) + entry into the receiver's column
//
// Source: docs/models/exchange.md#latency (ipu21; taken as equal on GC200 and Bow).
#pragma once

#include "base/units.h"
#include "models/spec/machine_spec.h"
#include "models/timing/tile_position.h"

#include <cstdint>
#include <vector>

namespace tessera::timing {

/// What the route from one tile to another costs.
struct Route {
    Cycles latency = 0;     ///< L: events from sending to the receiver's pointer
    unsigned direction = 0; ///< 1 or 2: the bus on which the word must be sent
};

[[nodiscard]] Route route(const spec::ExchangeSpec& exchange, const TilePosition& from,
                          const TilePosition& to);

/// How many events a run of items takes on a lane: full ones, and one for what is left.
class LaneTiming {
public:
    explicit LaneTiming(const spec::ExchangeSpec& exchange) : items_(exchange.lane_items()) {}

    /// Items of one event: words of 4 bytes, or items of 8 over the two lanes of a pair.
    [[nodiscard]] std::int64_t items() const { return items_; }
    [[nodiscard]] Cycles events(std::int64_t items) const {
        return items_ == 1 ? items : (items + items_ - 1) / items_;
    }

private:
    std::int64_t items_;
};

/// The routes of one chip with the spec's mux and pointer distances.
class ExchangeTiming {
public:
    explicit ExchangeTiming(const spec::MachineSpec& machine);

    [[nodiscard]] const TileGrid& grid() const { return grid_; }
    [[nodiscard]] const LaneTiming& lane() const { return lane_; }

    /// Events from a mux control on `tile` to the pointer that takes its first word.
    [[nodiscard]] Cycles mux_to_pointer(TileId tile) const {
        return mux_to_pointer_ + mux_to_pointer_row_ * grid_.position(tile).row;
    }
    /// L: events from sending to the receiver's pointer; on 1472 tiles of the machine 18 to 164.
    [[nodiscard]] Cycles latency(TileId from, TileId to) const {
        return column_route(from, to).latency + row_ * grid_.position(from).row;
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
        return {mux_offset(from, to), column_route(from, to).direction};
    }
    /// 1 or 2: the direction bit that the sender must set for `to` to hear it.
    [[nodiscard]] unsigned direction(TileId from, TileId to) const {
        return column_route(from, to).direction;
    }

private:
    struct ColumnRoute {
        std::int16_t latency = 0; ///< of a sender in row 0
        std::uint8_t direction = 0;
    };
    /// By column and sub at both ends.
    [[nodiscard]] const ColumnRoute& column_route(TileId from, TileId to) const {
        return column_routes_[grid_.position(from).physical_id % kTilesPerRow * kTilesPerRow +
                              grid_.position(to).physical_id % kTilesPerRow];
    }

    TileGrid grid_;
    LaneTiming lane_;
    Cycles mux_to_pointer_;
    Cycles mux_to_pointer_row_;
    Cycles row_;
    std::vector<ColumnRoute> column_routes_;
};

} // namespace tessera::timing
