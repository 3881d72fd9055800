// SPDX-License-Identifier: MIT
// Pieces of tensors in the layouts that codelets read.
#pragma once

#include "kernels/graph/graph.h"

#include <cstdint>
#include <limits>

namespace tessera::graph {

/// A slab of cells in a tile: [group][row], a cell holding `group` neighbouring elements of one
/// row. Cell u is row u % rows of group u / rows.
struct CellGrid {
    std::int64_t rows = 0;
    std::int64_t group = 16;      ///< elements a cell
    std::int64_t first_row = 0;   ///< of the host tensor
    std::int64_t first_group = 0; ///< of the host tensor
    std::int64_t host_inner = 0;  ///< elements along the groups in the host tensor
    std::int64_t host_rows = std::numeric_limits<std::int64_t>::max();
    std::int64_t host_row_stride = 0;   ///< elements from row to row
    std::int64_t host_inner_stride = 1; ///< elements from element to element of a cell
    std::int64_t cell_bytes = 32;
    std::int64_t element_bytes = 2;
};

/// Adds the pieces for cells [first, last) that stand one after the other from `place` on.
/// Rows and elements of the last cells that lie beyond the host tensor have no piece.
void add_cells(Tensor& tensor, TileId tile, Place place, const CellGrid& grid, std::int64_t first,
               std::int64_t last);

} // namespace tessera::graph
