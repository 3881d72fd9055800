// SPDX-License-Identifier: MIT
// The part of a copy that turns squares of 16 x 16 FP16 elements: one tensor has 16 neighbours of a column together in
// tile memory, the other 16 neighbours of a row.
//
//     from, on any tiles   --exchange-->   squares as they are, on the tile that wants them   --turn.S-->   to
//
// A square of which a tile wants all rows in even places is turned into these; of others the rows that are wanted are
// copied from a square of the tile's own. Tensors that squares do not cover whole are not turned.
#pragma once

#include "kernels/graph/copy_atoms.h"
#include "kernels/graph/graph.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::graph {

/// Where the rows of a square stand behind row 0: a sum of what the bits of a row's number say.
struct RowPattern {
    std::uint32_t one = 0;  ///< odd ones
    std::uint32_t two = 0;  ///< those behind the first two of four
    std::uint32_t four = 0; ///< from four to four
    friend bool operator==(const RowPattern&, const RowPattern&) = default;
};

/// A square on the tile that wants it.
struct Square {
    TileId tile = 0;
    std::uint32_t from = 0; ///< byte of the buffer of squares
    RowPattern from_rows;
    At to; ///< its first row, in `to` or in the buffer of turned squares
    RowPattern to_rows;
};

struct Turned {
    std::vector<Square> squares; ///< by tile
    Tensor arrives;              ///< where `from` is copied to: squares, and what is not turned
    std::vector<Atom> rows;      ///< of turned squares, that go to other places of their tile
    std::vector<Atom> covered;   ///< elements of `to`: from and to are the same
};

/// Adds buffers for what is turned on the way from one tensor to the other. Nothing, where neighbours are the same in
/// both, or where squares do not cover all elements.
[[nodiscard]] std::optional<Turned> turn_squares(Graph& graph, TensorId from, TensorId to,
                                                 const std::string& name);

} // namespace tessera::graph
