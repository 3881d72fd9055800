// SPDX-License-Identifier: MIT
// What the readers of sparse matrices make: the entries that a file has.
#pragma once

#include "kernels/workload/operand_spec.h"
#include "kernels/workload/operands.h"
#include "kernels/workload/value_type.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

namespace tessera::workload {

inline constexpr std::int64_t kLargestSize =
    std::numeric_limits<std::int32_t>::max();                      ///< of a side
inline constexpr std::size_t kMostEntries = std::size_t{1} << 27U; ///< of a matrix

/// One element of the matrix; indices start at 0.
struct CoordinateEntry {
    std::int32_t row = 0;
    std::int32_t column = 0;
    std::int32_t line = 0; ///< of a file of text, for messages; a mirrored entry has its partner's
    double value = 1.0;    ///< 1 where the file has none
};

/// rows x columns; entries are distinct and ascend by row, then column.
struct CoordinateMatrix {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    ValueType type = ValueType::Mask; ///< of the file's values
    std::vector<CoordinateEntry> entries;

    [[nodiscard]] bool has_values() const { return type != ValueType::Mask; }
};

/// Orders entries by row, then column, then line; costs one look at each where they stand so already.
inline void sort_by_place(std::vector<CoordinateEntry>& entries) {
    const auto before = [](const CoordinateEntry& a, const CoordinateEntry& b) {
        return std::tie(a.row, a.column, a.line) < std::tie(b.row, b.column, b.line);
    };
    if (!std::is_sorted(entries.begin(), entries.end(), before)) {
        std::sort(entries.begin(), entries.end(), before);
    }
}

/// Makes entries of one place, which stand side by side, one entry: its value is their sum, in a mask
/// 1. Returns the entry that makes a sum infinite, where the matrix is left unfinished.
[[nodiscard]] inline std::optional<CoordinateEntry> sum_duplicates(CoordinateMatrix& matrix) {
    std::size_t kept = 0;
    for (std::size_t i = 1; i < matrix.entries.size(); ++i) {
        CoordinateEntry& last = matrix.entries[kept];
        const CoordinateEntry& entry = matrix.entries[i];
        if (entry.row != last.row || entry.column != last.column) {
            matrix.entries[++kept] = entry;
        } else if (matrix.has_values()) {
            last.value += entry.value;
            if (!std::isfinite(last.value)) {
                return entry;
            }
        }
    }
    matrix.entries.resize(std::min(matrix.entries.size(), kept + 1));
    return std::nullopt;
}

} // namespace tessera::workload
