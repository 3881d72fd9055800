// SPDX-License-Identifier: MIT
// Which blocks of a block grid are kept: the two generators. Both return ascending block numbers,
// row * grid.columns + column.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::workload {

/// The blocks that a matrix is divided into.
struct BlockGrid {
    std::int64_t rows = 0;    ///< 1 .. 2^24
    std::int64_t columns = 0; ///< 1 .. 2^24
};

/// round(density * rows * columns), halves away from zero; density in 0..1.
[[nodiscard]] std::int64_t kept_blocks(BlockGrid grid, double density);

/// Exactly `kept` distinct blocks, every such set equally likely; a function of the seed alone.
/// Needs memory and time (times a logarithm) of the kept blocks, and also for nearly full grids.
[[nodiscard]] std::vector<std::int64_t> uniform_blocks(BlockGrid grid, std::int64_t kept,
                                                       std::uint64_t seed);

/// The `kept` blocks whose centres lie nearest to the line from the grid's upper left to its lower
/// right corner, measured along the row. Of the last, equally distant ones, those of the upper rows
/// are kept.
[[nodiscard]] std::vector<std::int64_t> banded_blocks(BlockGrid grid, std::int64_t kept);

} // namespace tessera::workload
