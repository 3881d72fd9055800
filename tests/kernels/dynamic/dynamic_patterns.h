// SPDX-License-Identifier: MIT
// Patterns and layouts for tests of dynamic sparse operands.
#pragma once

#include "kernels/dynamic/encode.h"
#include "kernels/dynamic/layout.h"
#include "kernels/dynamic/published/planner.h"
#include "kernels/workload/operands.h"
#include "kernels/workload/pattern.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace tessera::test {

/// Ascending numbers of blocks, row * columns of the grid + column.
inline workload::SparsePattern pattern_of(std::int64_t rows, std::int64_t columns,
                                          std::int64_t block,
                                          const std::vector<std::int64_t>& blocks) {
    workload::SparsePattern pattern;
    pattern.rows = rows;
    pattern.columns = columns;
    pattern.block = block;
    pattern.row_start.resize(static_cast<std::size_t>(pattern.block_rows()) + 1);
    for (const std::int64_t number : blocks) {
        ++pattern.row_start[static_cast<std::size_t>(number / pattern.block_columns()) + 1];
        pattern.block_column.push_back(static_cast<std::int32_t>(number % pattern.block_columns()));
    }
    for (std::size_t row = 1; row < pattern.row_start.size(); ++row) {
        pattern.row_start[row] += pattern.row_start[row - 1];
    }
    return pattern;
}

inline workload::SparsePattern uniform(std::int64_t size, std::int64_t block, double density,
                                       std::uint64_t seed) {
    const workload::BlockGrid grid{size / block, size / block};
    return pattern_of(size, size, block,
                      workload::uniform_blocks(grid, workload::kept_blocks(grid, density), seed));
}

/// Each kind of pattern that trips somebody up; `kind` counts from 0, see kSkewedKinds.
inline constexpr int kSkewedKinds = 10;
inline workload::SparsePattern skewed(std::int64_t rows, std::int64_t columns, std::int64_t block,
                                      double density, int kind, std::mt19937_64& random) {
    const std::int64_t down = (rows + block - 1) / block;
    const std::int64_t across = (columns + block - 1) / block;
    const auto below = [&](std::int64_t bound) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
    };
    const auto chosen = [&](double chance) {
        return static_cast<double>(random() >> 11U) * 0x1p-53 < chance;
    };
    const std::int64_t row = below(down);
    const std::int64_t column = below(across);
    std::vector<std::int64_t> blocks;
    for (std::int64_t r = 0; r < down; ++r) {
        for (std::int64_t c = 0; c < across; ++c) {
            bool keep = false;
            switch (kind) {
            case 0: // empty
                break;
            case 1: // full
                keep = true;
                break;
            case 2: // one row
                keep = r == row;
                break;
            case 3: // one column
                keep = c == column;
                break;
            case 4: // some of one row
                keep = r == row && chosen(0.5);
                break;
            case 5: // some of one column
                keep = c == column && chosen(0.5);
                break;
            case 6: // one corner
                keep = r < down / 3 && c < across / 3 && chosen(3 * density);
                break;
            case 7: // rows fade
                keep =
                    chosen(2 * density * static_cast<double>(down - r) / static_cast<double>(down));
                break;
            case 8: // a band
                keep = static_cast<double>(std::abs(r * across - c * down)) <
                       density * static_cast<double>(down * across);
                break;
            default:
                keep = chosen(density);
            }
            if (keep) {
                blocks.push_back(r * across + c);
            }
        }
    }
    return pattern_of(rows, columns, block, blocks);
}

/// Buckets of `blocks` blocks of 8 x 8 and room for the metadata of as many rows of each of them, in
/// parts of 2 x 3 blocks.
inline dynamic::Layout small_layout(dynamic::Split split, std::int64_t blocks) {
    dynamic::Layout layout;
    layout.block = 8;
    layout.split = split;
    layout.part_rows = 2;
    layout.part_columns = 3;
    layout.rows = split.x * layout.part_rows;
    layout.columns = split.y * layout.part_columns;
    layout.n = 4;
    layout.element_bytes = 2;
    layout.workers = 6;
    layout.bucket.blocks = blocks;
    layout.bucket.values = blocks * 64;
    layout.bucket.metadata = 1 + blocks * (layout.header_words() + 3);
    layout.bucket.bytes = 2 * (layout.bucket.values + layout.bucket.metadata);
    return layout;
}

/// A pattern of the layout with blocks at these places.
inline workload::SparsePattern
blocks_at(const dynamic::Layout& layout,
          const std::vector<std::pair<std::int64_t, std::int64_t>>& places) {
    std::vector<std::int64_t> numbers;
    for (const auto& [row, column] : places) {
        numbers.push_back(row * layout.columns + column);
    }
    std::sort(numbers.begin(), numbers.end());
    return pattern_of(layout.rows * layout.block, layout.columns * layout.block, layout.block,
                      numbers);
}

inline bool same(const workload::SparsePattern& one, const workload::SparsePattern& other) {
    return one.block == other.block && one.row_start == other.row_start &&
           one.block_column == other.block_column;
}

} // namespace tessera::test
