// SPDX-License-Identifier: MIT
// How values, and lines of B and C, stand in tiles.
#pragma once

#include "kernels/graph/cells.h"
#include "kernels/graph/graph.h"
#include "kernels/sparse/spmm_homes.h"
#include "kernels/sparse/spmm_partition.h"

namespace tessera::sparse {

/// Blocks [first, last) of a part's list, one after the other.
void add_values(graph::Tensor& tensor, TileId tile, graph::Place place, const Problem& problem,
                const Part& part, std::int64_t first, std::int64_t last);

/// All blocks of the matrix that is cut so, where Homes has them: `home` on their homes, or `values`
/// on the tiles of their parts.
void add_values_at_home(graph::Tensor& tensor, const Homes& homes, const Partition& cut,
                        graph::BufferId values, graph::BufferId home);

/// How a slice of a host's tensor of so many rows stands in tiles: lines of [column][block], or
/// `by_halves` of [2][column][8].
[[nodiscard]] graph::CellGrid cells_of(const Problem& problem, std::int64_t rows,
                                       const Range& slice, bool by_halves = false);

/// Lines [first, first + count) of so many rows each, one after the other.
void add_lines(graph::Tensor& tensor, TileId tile, graph::Place place, graph::CellGrid cells,
               std::int64_t block, std::int64_t first, std::int64_t count);

} // namespace tessera::sparse
