// SPDX-License-Identifier: MIT
// Matrices whose rows stand whole on tiles: what families that work row by row read and write. Of a
// tensor with more than two sizes every run along the last one is a row.
//
//              tile 3               tile 4
//     row 0 [ n elements | pad ]   row 2 [ ... | pad ]      rows padded to 8 bytes; a tensor of one
//     row 1 [ n elements | pad ]                            size has one element for each row:
//     results of rows 0, 1 | pad   result of row 2 | pad    these stand together
#pragma once

#include "kernels/graph/graph.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tessera::graph {

/// Rows `first_row`, `first_row + row_stride`, ... on a tile, `step` bytes from one to the next.
struct RowBlock {
    TileId tile = 0;
    Place place;
    std::int64_t first_row = 0;
    std::int64_t rows = 0;
    std::int64_t row_stride = 1;
    Bytes step = 0;
};

/// A tensor and where its rows stand; every row is in one block.
struct InRows {
    TensorId tensor;
    std::vector<RowBlock> blocks;
};

/// Tiles [first, first + count).
struct TileRange {
    TileId first = 0;
    std::int64_t count = 0;

    [[nodiscard]] bool has(TileId tile) const {
        return tile >= first && static_cast<std::int64_t>(tile - first) < count;
    }
};

/// What a row begins at a multiple of and is padded to.
constexpr Bytes kRowAlignment = 8;

/// Adds the tensor, without pieces, over a new buffer of its name: its rows
/// are dealt evenly to the tiles, the first ones have one row more. Who writes a row of a matrix
/// writes its padding too; behind the elements of a tensor of one size memory is zero.
InRows add_rows(Graph& graph, Tensor tensor, TileRange tiles);

/// The same beside rows that there are: each row on the tile of the row with its number.
InRows add_rows_beside(Graph& graph, Tensor tensor, std::span<const RowBlock> beside);

/// The blocks of a matrix of which each row stands whole on one of the tiles and begins at a
/// multiple of `alignment` bytes; nothing where one does not. Of a row that stands at several
/// places one is told.
[[nodiscard]] std::optional<std::vector<RowBlock>> rows_of(const Graph& graph, TensorId tensor,
                                                           Bytes alignment, TileRange tiles);

/// The matrix `offered` where it stands as rows_of() wants it; else `otherwise`, added by
/// add_rows().
InRows in_rows(Graph& graph, std::optional<TensorId> offered, Tensor otherwise, Bytes alignment,
               TileRange tiles);

/// Adds a vertex's pointer to row 0 of the block and says which bytes it reads: `row_bytes` of each
/// row, no padding.
void add_row_reads(std::vector<Field>& state, const RowBlock& block, Bytes row_bytes);

} // namespace tessera::graph
