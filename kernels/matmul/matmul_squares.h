// SPDX-License-Identifier: MIT
// An operand that stands on tiles already, but with its neighbours along the other dimension, is sent from these tiles:
// its squares of 16 x 16 elements are turned where they stand, and no exchange brings them to other homes before.
//
//     x, home of a product      x^T, home of the next one        tiles that multiply with it
//     squares on tile t   --turn.S-->   squares on tile t   --exchange-->   groups
//
// A square that stands on two tiles, or whose tile may not send it, goes to another tile first.
#pragma once

#include "kernels/graph/turned.h"
#include "kernels/matmul/matmul_grid.h"
#include "kernels/plan/homes.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace tessera::matmul {

/// Of 16 rows of 16 FP16 elements.
inline constexpr Bytes kSquareBytes = 16 * kCellBytes;

/// Operands that are on tiles already, with their neighbours along the wrong dimension: the squares of each, by
/// [16 rows or columns][k group].
struct StandingSquares {
    std::optional<graph::SquareTiles> a;
    std::optional<graph::SquareTiles> b;
    /// The member of pairs, 0 or 1, that sends chunk 0 at double width where the operand that goes so has no squares.
    std::int64_t first_member = 0;

    [[nodiscard]] const std::optional<graph::SquareTiles>& of(bool is_a) const {
        return is_a ? a : b;
    }
};

/// The grid with its parts on other tiles, so that few or no squares stand on a tile that receives them.
[[nodiscard]] Grid beside_squares(const Grid& grid, const StandingSquares& standing);

/// The member of pairs that sends a chunk at double width: the one that has most of its squares; where that operand has
/// none, both in turn, from `standing.first_member` on.
[[nodiscard]] std::int64_t wide_member(const Grid& grid, const StandingSquares& standing,
                                       std::int64_t chunk);

/// Units of one group that are part of a square, one behind the other in both.
struct Strip {
    std::size_t square = 0;
    std::int64_t from = 0; ///< unit of the square
    std::size_t group = 0;
    std::int64_t first = 0; ///< unit of the group's chunk
    std::int64_t last = 0;
};
/// Returns those of all groups of an operand's chunk, by group and unit.
[[nodiscard]] std::vector<Strip> strips_of(const Grid& grid, const graph::SquareTiles& squares,
                                           bool is_a, std::int64_t chunk);

/// Homes of these strips, evenly, behind what the buffer of homes has already, and in the order of sending. None, where
/// more than a quarter of the squares cannot stay on their tiles, or where a strip is shorter than `least` bytes: at
/// double width those are all of columns with FP32 partials, and some of rows that are cut amid squares.
[[nodiscard]] std::vector<plan::HomeRun>
runs_of_squares(const graph::SquareTiles& squares, const std::vector<Strip>& strips,
                Bytes unit_bytes, Bytes least,
                const std::function<bool(TileId tile, std::size_t group)>& may_send,
                std::vector<Bytes>& filled);

} // namespace tessera::matmul
