// SPDX-License-Identifier: MIT
// How values, and lines of X and C, stand in tiles.
#pragma once

#include "kernels/graph/graph.h"
#include "kernels/sparse/spmm_partition.h"

namespace tessera::spmm {

/// Blocks [first, last) of a part's list, one after the other.
void add_values(graph::Tensor& tensor, TileId tile, graph::Place place, const Problem& problem,
                const Part& part, std::int64_t first, std::int64_t last);

/// How a line of a slice stands in a tile.
struct LineShape {
    std::int64_t rows = 0; ///< of the host tensor
    std::int64_t n = 0;
    std::int64_t block = 1;
    Bytes element = 2;
    Range slice;
    bool by_halves = false; ///< [2][column][8] instead of [column][16]
};
[[nodiscard]] LineShape shape_of(const Problem& problem, std::int64_t rows, const Range& slice);

/// Lines [first, first + count) one after the other.
void add_lines(graph::Tensor& tensor, TileId tile, graph::Place place, const LineShape& shape,
               std::int64_t first, std::int64_t count);

} // namespace tessera::spmm
