// SPDX-License-Identifier: MIT
#include "kernels/pattern/blocks.h"

#include "base/error.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace tessera::pattern {

using workload::CoordinateEntry;
using workload::CoordinateMatrix;
using workload::kMostEntries;

namespace {

using Entries = std::vector<CoordinateEntry>;

/// The entries of the block row of `first` end here.
Entries::const_iterator end_of_block_row(const Entries& entries, Entries::const_iterator first,
                                         std::int64_t block) {
    const std::int64_t block_row = first->row / block;
    return std::find_if(first, entries.end(), [=](const CoordinateEntry& entry) {
        return entry.row / block != block_row;
    });
}

/// Columns of the blocks that have these entries.
std::vector<std::int64_t> block_columns(Entries::const_iterator first, Entries::const_iterator end,
                                        std::int64_t block) {
    std::vector<std::int64_t> columns;
    std::transform(first, end, std::back_inserter(columns),
                   [=](const CoordinateEntry& entry) { return entry.column / block; });
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    return columns;
}

void expect_at_most(std::size_t elements, std::int64_t block) {
    if (elements > kMostEntries) {
        throw ConfigError(Diagnostic{"", 0, 0, "",
                                     "whole blocks of " + std::to_string(block) + " x " +
                                         std::to_string(block) + " have more than " +
                                         std::to_string(kMostEntries) +
                                         " elements, the most of a pattern",
                                     ""});
    }
}

} // namespace

CoordinateMatrix transposed(CoordinateMatrix matrix) {
    std::swap(matrix.rows, matrix.columns);
    for (CoordinateEntry& entry : matrix.entries) {
        std::swap(entry.row, entry.column);
    }
    workload::sort_by_place(matrix.entries);
    return matrix;
}

CoordinateMatrix whole_blocks(const CoordinateMatrix& matrix, std::int64_t block) {
    CoordinateMatrix whole{matrix.rows, matrix.columns, matrix.type, {}};
    const double zero = matrix.has_values() ? 0.0 : 1.0;
    const Entries& entries = matrix.entries;
    for (auto first = entries.begin(); first != entries.end();) {
        const std::int64_t block_row = first->row / block;
        const auto end = end_of_block_row(entries, first, block);
        const std::vector<std::int64_t> columns = block_columns(first, end, block);
        const std::int64_t last_row = std::min((block_row + 1) * block, matrix.rows);
        auto entry = first;
        for (std::int64_t row = block_row * block; row < last_row; ++row) {
            for (const std::int64_t number : columns) {
                const std::int64_t last = std::min((number + 1) * block, matrix.columns);
                for (std::int64_t column = number * block; column < last; ++column) {
                    const bool is_entry =
                        entry != end && entry->row == row && entry->column == column;
                    whole.entries.push_back({static_cast<std::int32_t>(row),
                                             static_cast<std::int32_t>(column), 0,
                                             is_entry ? entry->value : zero});
                    entry += is_entry ? 1 : 0;
                }
            }
            expect_at_most(whole.entries.size(), block);
        }
        first = end;
    }
    return whole;
}

workload::Sparse<double> blocked(const CoordinateMatrix& matrix, std::int64_t block) {
    workload::Sparse<double> blocks;
    blocks.rows = matrix.rows;
    blocks.columns = matrix.columns;
    blocks.block = block;
    blocks.row_start.assign(static_cast<std::size_t>(blocks.block_rows()) + 1, 0);
    const Entries& entries = matrix.entries;
    for (auto first = entries.begin(); first != entries.end();) {
        const std::int64_t block_row = first->row / block;
        const auto end = end_of_block_row(entries, first, block);
        const std::vector<std::int64_t> columns = block_columns(first, end, block);
        const std::int64_t begin = blocks.blocks();
        blocks.block_column.insert(blocks.block_column.end(), columns.begin(), columns.end());
        blocks.row_start[static_cast<std::size_t>(block_row) + 1] =
            static_cast<std::int64_t>(columns.size());
        expect_at_most(static_cast<std::size_t>(blocks.stored_elements()), block);
        blocks.values.resize(static_cast<std::size_t>(blocks.stored_elements()));
        for (; first != end; ++first) {
            const auto place =
                std::lower_bound(columns.begin(), columns.end(), first->column / block);
            const std::int64_t number = begin + (place - columns.begin());
            blocks.values[static_cast<std::size_t>((number * block + first->row % block) * block +
                                                   first->column % block)] = first->value;
        }
    }
    std::partial_sum(blocks.row_start.begin(), blocks.row_start.end(), blocks.row_start.begin());
    return blocks;
}

CoordinateMatrix elements_of(const workload::SparsePattern& pattern,
                             const std::vector<double>& values, workload::ValueType type) {
    CoordinateMatrix matrix{pattern.rows, pattern.columns, type, {}};
    matrix.entries.reserve(values.size());
    const std::int64_t block = pattern.block;
    for (std::int64_t row = 0; row < pattern.rows; ++row) {
        const std::int64_t block_row = row / block;
        for (std::int64_t number = pattern.first_block(block_row);
             number < pattern.first_block(block_row + 1); ++number) {
            const std::int64_t first = pattern.column_of(number) * block;
            const std::int64_t last = std::min(first + block, pattern.columns);
            const std::int64_t at = (number * block + row % block) * block - first;
            for (std::int64_t column = first; column < last; ++column) {
                matrix.entries.push_back({static_cast<std::int32_t>(row),
                                          static_cast<std::int32_t>(column), 0,
                                          values[static_cast<std::size_t>(at + column)]});
            }
        }
    }
    return matrix;
}

std::int64_t zeros(const CoordinateMatrix& matrix) {
    return std::count_if(matrix.entries.begin(), matrix.entries.end(),
                         [](const CoordinateEntry& entry) { return entry.value == 0.0; });
}

} // namespace tessera::pattern
