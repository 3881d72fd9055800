// SPDX-License-Identifier: MIT
#include "kernels/pattern/blocks.h"

#include "base/error.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace tessera::pattern {

using workload::CoordinateEntry;
using workload::CoordinateMatrix;

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
    const auto& entries = matrix.entries;
    std::vector<std::int64_t> columns; // of the blocks of a block row
    for (auto first = entries.begin(); first != entries.end();) {
        const std::int64_t block_row = first->row / block;
        columns.clear();
        auto end = first;
        for (; end != entries.end() && end->row / block == block_row; ++end) {
            columns.push_back(end->column / block);
        }
        std::sort(columns.begin(), columns.end());
        columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
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
            if (whole.entries.size() > kMostEntries) {
                throw ConfigError(Diagnostic{"", 0, 0, "",
                                             "whole blocks of " + std::to_string(block) + " x " +
                                                 std::to_string(block) + " have more than " +
                                                 std::to_string(kMostEntries) +
                                                 " elements, the most of a pattern",
                                             ""});
            }
        }
        first = end;
    }
    return whole;
}

std::int64_t zeros(const CoordinateMatrix& matrix) {
    return std::count_if(matrix.entries.begin(), matrix.entries.end(),
                         [](const CoordinateEntry& entry) { return entry.value == 0.0; });
}

} // namespace tessera::pattern
