// SPDX-License-Identifier: MIT
// What the readers of sparse matrices make: the entries that a file has.
#pragma once

#include "kernels/workload/operand_spec.h"
#include "kernels/workload/operands.h"
#include "kernels/workload/value_type.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

namespace tessera::workload {

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

} // namespace tessera::workload
