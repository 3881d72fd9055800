// SPDX-License-Identifier: MIT
// When an exchanged word arrives: pure functions over tile positions and the machine spec. Each
// tile counts cycles from its release by the exchange's sync.
// The latency L from sender s to receiver d, with coefficients exchange.route_cycles and
// exchange.route_{fold,step,half,row,column}_cycles:
//
//   L = route + |D| + route_fold * (fold(s) - fold(d)) + route_step * (turn - column(d))
//       + route_half * half(s) + route_row * row(s)
//   D = route_column * (fold(d) - fold(s) - (half(s) XOR (sub(s) AND 1))) + entry
//
//   column, row, sub  the place in the grid (tile_position.h)
//   half    0 in columns 0 to 7, which run outwards; 1 in columns 8 to 15, which run back
//   fold    the distance outwards, in columns: column in half 0, 15 - column in half 1
//   turn    column(s) mod 8 + 1 if s and d are in the same half, else 16 - column(s) mod 8
//   entry   into the receiver's column: exchange.route_near_cycles if half(d) = (sub(d) AND 1),
//           else exchange.route_far_cycles; if sub(d) >= 2, near is one more and far one less
//
// Source: docs/models/exchange.md#latency (ipu21; assumed to be equal on GC200 and Bow).
#pragma once

#include "base/units.h"
#include "models/spec/machine_spec.h"
#include "models/timing/tile_position.h"

#include <cstdint>
#include <vector>

namespace tessera::timing {

/// The route from one tile to another.
struct Route {
    Cycles latency = 0;     ///< L: cycles from sending to the receiver's pointer
    unsigned direction = 0; ///< 1 or 2: the bus on which the word must be sent
};

[[nodiscard]] Route route(const spec::ExchangeSpec& exchange, const TilePosition& from,
                          const TilePosition& to);

/// Computes how many cycles consecutive items take on a lane (a tile's connection to the exchange).
/// Each cycle moves as many items as the lane is wide; the last cycle may move fewer.
class LaneTiming {
public:
    explicit LaneTiming(const spec::ExchangeSpec& exchange) : items_(exchange.lane_items()) {}

    /// Returns the items of one cycle: words of 4 bytes on one lane, or items of 8 bytes on the two
    /// lanes of a pair of tiles.
    [[nodiscard]] std::int64_t items() const { return items_; }
    /// Returns the cycles for `items` items.
    [[nodiscard]] Cycles events(std::int64_t items) const {
        return items_ == 1 ? items : (items + items_ - 1) / items_;
    }

private:
    std::int64_t items_;
};

/// The routes of one chip, and the delays of its receivers. A receiver has a mux that selects the
/// sender, and a pointer that holds the address where the next word is stored.
class ExchangeTiming {
public:
    explicit ExchangeTiming(const spec::MachineSpec& machine);

    [[nodiscard]] const TileGrid& grid() const { return grid_; }
    [[nodiscard]] const LaneTiming& lane() const { return lane_; }

    /// Returns the cycles from a mux control on `tile` until the first word that it lets through
    /// reaches the pointer.
    [[nodiscard]] Cycles mux_to_pointer(TileId tile) const {
        return mux_to_pointer_ + mux_to_pointer_row_ * grid_.position(tile).row;
    }
    /// Returns L, the cycles from sending to the receiver's pointer: 18 to 164 on a machine of 1472
    /// tiles.
    [[nodiscard]] Cycles latency(TileId from, TileId to) const {
        return column_route(from, to).latency + row_ * grid_.position(from).row;
    }
    /// Returns T = L - mux_to_pointer, the cycles from sending to the receiver's mux control. It is
    /// negative for most pairs: the receiver must then select the sender -T cycles before the word
    /// is sent.
    [[nodiscard]] Cycles mux_offset(TileId from, TileId to) const {
        return latency(from, to) - mux_to_pointer(to);
    }
    struct Way {
        Cycles mux_offset = 0;
        unsigned direction = 0;
    };
    /// Returns `mux_offset` and `direction` together.
    [[nodiscard]] Way way(TileId from, TileId to) const {
        return {mux_offset(from, to), column_route(from, to).direction};
    }
    /// Returns 1 or 2: the direction bit that the sender must set so that its word reaches `to`.
    [[nodiscard]] unsigned direction(TileId from, TileId to) const {
        return column_route(from, to).direction;
    }

private:
    struct ColumnRoute {
        std::int16_t latency = 0; ///< for a sender in row 0
        std::uint8_t direction = 0;
    };
    /// Returns the route without the sender's row: it depends on the columns and subs of both ends.
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
