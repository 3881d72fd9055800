// SPDX-License-Identifier: MIT
// The part of a copy that turns squares of 16 x 16 FP16 elements: one tensor has 16 neighbours of a column together in
// tile memory, the other 16 neighbours of a row.
//
//     from, on any tiles   --exchange-->   squares as they are, on the tile that wants them   --turn.S-->   to
//
// A square that stands on that tile already is read there, if its rows are 512 bytes together. A square of which a tile
// wants all rows in even places is turned into these. Of others the rows that are wanted are copied from a square that
// the tile has turned for itself. Tensors that squares do not cover whole are not turned.
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
    At from; ///< its first row, in `from` or in the buffer of squares
    RowPattern from_rows;
    At to; ///< its first row, in `to` or in the buffer of turned squares
    RowPattern to_rows;
};

struct Turned {
    std::vector<Square> squares; ///< by tile
    Tensor arrives;              ///< where squares of `from` are copied to; no pieces: none is
    std::vector<Atom> rows;      ///< of turned squares, that go to other places of their tile
    std::vector<Atom> covered;   ///< elements of `to`: from and to are the same
};

/// Where a matrix has its squares.
struct SquareTiles {
    /// The tiles of a square: both are one, if it is on one.
    struct Square {
        TileId tile = 0;
        TileId other = 0;

        [[nodiscard]] bool is_whole() const { return tile == other; }
    };
    std::int64_t across = 0;     ///< squares along the dimension of the wanted neighbours
    std::vector<Square> squares; ///< [square of the other dimension][square of this one]
};

/// The squares of a matrix of FP16 elements before it is copied to where neighbours along dimension `wanted` (0 or 1)
/// stand together. Nothing, where they do so already, or where squares do not cover all elements.
[[nodiscard]] std::optional<SquareTiles> tiles_of_squares(const Tensor& from, std::size_t wanted);

/// Adds buffers for what is turned on the way from one tensor to the other. Nothing, where neighbours are the same in
/// both, or where squares do not cover all elements.
[[nodiscard]] std::optional<Turned> turn_squares(Graph& graph, TensorId from, TensorId to,
                                                 const std::string& name);

} // namespace tessera::graph
