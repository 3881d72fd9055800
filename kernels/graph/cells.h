// SPDX-License-Identifier: MIT
// Pieces of tensors in the layouts that codelets read.
#pragma once

#include "base/range.h"
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

/// A slab of weights in a tile, in blocks: [input group][channel group], or the other way round. A
/// block has a row of inputs for each of its channels.
struct WeightGrid {
    struct Side {
        Range groups;                 ///< of the host tensor, that the slab has
        std::int64_t group = 16;      ///< elements of a block
        std::int64_t host = 0;        ///< elements of the host tensor
        std::int64_t host_stride = 1; ///< elements from one to the next in the host tensor
    };
    Side inputs;
    Side channels;
    bool is_by_channels = false; ///< [channel group][input group]
    bool is_by_sets =
        false; ///< the row of channel c of 16 is 8 * (c >> 1 & 1) + 2 * (c >> 2) + (c & 1)
    std::int64_t element_bytes = 2;
};

/// Adds the pieces for blocks [first, last) that stand one after the other from `place` on.
void add_weights(Tensor& tensor, TileId tile, Place place, const WeightGrid& grid,
                 std::int64_t first, std::int64_t last);

} // namespace tessera::graph
