// SPDX-License-Identifier: MIT
// Which blocks of a block grid are kept: the generators. All return ascending block numbers,
// row * grid.columns + column.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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

/// Exactly `kept` blocks in rows that are not alike: of a row of rank r = 1, 2, ... a number
/// proportional to r^-exponent, rounded so that they add up (largest remainders), but at most the
/// grid's width; what is too much goes to the ranks behind, by the same law. Ranks are dealt to
/// rows at random, and each set of blocks of a row is equally likely: a function of the seed alone,
/// in whole numbers, the same on all hosts. exponent > 0.
[[nodiscard]] std::vector<std::int64_t> power_law_blocks(BlockGrid grid, std::int64_t kept,
                                                         double exponent, std::uint64_t seed);

/// "2 of 4": of each `group` neighbouring blocks of a row `kept`. Of the last ones of a row, if
/// they are fewer, round(kept / group of them), halves up.
struct NOfM {
    std::int64_t kept = 1;
    std::int64_t group = 1;

    /// The non-zero blocks of a group of that many blocks, at most `group`.
    [[nodiscard]] std::int64_t of(std::int64_t blocks) const;
    [[nodiscard]] std::int64_t of_row(std::int64_t columns) const;
};

/// Nothing unless density * group is a whole number of 1 .. group; a density of six digits, such as
/// 0.333333, is near enough.
[[nodiscard]] std::optional<NOfM> n_of_m(double density, std::int64_t group);
/// Of a density for which there is none: "got 0.3, 1.2 of each 4 blocks, expected a whole number of
/// them: 0.25 or 0.5".
[[nodiscard]] std::string n_of_m_mistake(double density, std::int64_t group);

/// In each group every set is equally likely; a function of the seed alone.
[[nodiscard]] std::vector<std::int64_t> n_of_m_blocks(BlockGrid grid, NOfM share,
                                                      std::uint64_t seed);

} // namespace tessera::workload
