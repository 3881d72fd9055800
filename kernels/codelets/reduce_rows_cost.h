// SPDX-License-Identifier: MIT
// Worker issues of reduce_rows_f16.S and reduce_rows_f32.S.
// tests/kernels/codelets/codelet_cost_test.cpp counts them in the assembled codelets.
#pragma once

#include "base/element_type.h"

#include <cstdint>

namespace tessera::codelets {

enum class RowReduction { Sum, Max };

constexpr std::int64_t kReduceRowsNothingF16 = 8; ///< a worker without rows
constexpr std::int64_t kReduceRowsNothingF32 = 7;
constexpr std::int64_t kReduceRowsFrameF16 = 20; ///< around the rows
constexpr std::int64_t kReduceRowsFrameF32 = 18;

constexpr std::int64_t kReduceRowsPairF16 = 6; ///< around two rows, or one
constexpr std::int64_t kReduceRowsRowF16 = 8;  ///< its elements apart
constexpr std::int64_t kReduceRowsQuadF16 = 1;
/// An element behind the quads.
[[nodiscard]] constexpr std::int64_t reduce_rows_tail_f16(RowReduction reduction) {
    return reduction == RowReduction::Sum ? 2 : 1;
}

/// FP32, a row's elements apart.
[[nodiscard]] constexpr std::int64_t reduce_rows_row_f32(RowReduction reduction) {
    return reduction == RowReduction::Sum ? 7 : 8;
}
constexpr std::int64_t kReduceRowsPairF32 = 1;   ///< of elements
constexpr std::int64_t kReduceRowsOddSumF32 = 2; ///< the last element of an odd number

/// Rows that a worker takes together.
[[nodiscard]] constexpr std::int64_t reduce_rows_unit(ElementType type) {
    return type == ElementType::F16 ? 2 : 1;
}

/// reduce_rows_<reduction>_<type>: rows of one worker.
[[nodiscard]] constexpr std::int64_t reduce_rows_issues(RowReduction reduction, ElementType type,
                                                        std::int64_t rows, std::int64_t elements) {
    if (type == ElementType::F16) {
        const std::int64_t row = kReduceRowsRowF16 + elements / 4 * kReduceRowsQuadF16 +
                                 elements % 4 * reduce_rows_tail_f16(reduction);
        return rows == 0 ? kReduceRowsNothingF16
                         : kReduceRowsFrameF16 + (rows + 1) / 2 * kReduceRowsPairF16 + rows * row;
    }
    const std::int64_t odd = reduction == RowReduction::Sum ? kReduceRowsOddSumF32 : 0;
    const std::int64_t row =
        reduce_rows_row_f32(reduction) + elements / 2 * kReduceRowsPairF32 + elements % 2 * odd;
    return rows == 0 ? kReduceRowsNothingF32 : kReduceRowsFrameF32 + rows * row;
}

} // namespace tessera::codelets
