// SPDX-License-Identifier: MIT
// A matrix as vertices go over it that work on rows: blocks of rows and columns in tiles.
#pragma once

#include "kernels/graph/graph.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::graph {

/// Rows of neighbouring elements.
struct Block {
    TileId tile = 0;
    Place place; ///< of the first row
    Bytes row_stride = 0;
    std::int64_t first_row = 0;
    std::int64_t rows = 0;
    std::int64_t first_column = 0;
    std::int64_t columns = 0;
};

/// The blocks of a tensor of two dimensions or more, piece by piece: every element where it stands.
/// Every run along the last dimension is a row. Nothing where neighbours of a row are not neighbours in their tile.
[[nodiscard]] std::optional<std::vector<Block>> blocks_of(const Tensor& tensor);

} // namespace tessera::graph
