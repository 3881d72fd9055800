// SPDX-License-Identifier: MIT
// Worker issues of spmm_elementwise.S. tests/kernels/codelets/codelet_cost_test.cpp counts them in
// the assembled codelets.
#pragma once

#include "kernels/codelets/product_types.h"

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kElementwiseNothing = 7; ///< a worker without rows
constexpr std::int64_t kElementwiseFrame = 11;  ///< around the loop over column groups
constexpr std::int64_t kElementwiseGroup = 12;  ///< of a column group, its rows apart
constexpr std::int64_t kElementwiseNonZero = 3;

/// Multiply-accumulates of an issue in the loop over a row's non-zeros: two multiplications of 8 bytes
/// and a sum of 16. The published vertices have the same loop.
[[nodiscard]] constexpr double elementwise_macs_per_issue(ElementType data) {
    return 16.0 / static_cast<double>(bytes_of(data)) / static_cast<double>(kElementwiseNonZero);
}

/// Worker issues of a row, without its non-zeros.
[[nodiscard]] constexpr std::int64_t elementwise_row_issues(ProductTypes types) {
    if (types.data == ElementType::F32) {
        return 5;
    }
    return types.partials == ElementType::F16 ? 6 : 7;
}

/// spmm_elementwise_<p>: rows and non-zeros of one worker.
[[nodiscard]] constexpr std::int64_t elementwise_issues(ProductTypes types, std::int64_t rows,
                                                        std::int64_t non_zeros,
                                                        std::int64_t column_groups) {
    if (rows == 0) {
        return kElementwiseNothing;
    }
    return kElementwiseFrame +
           column_groups * (kElementwiseGroup + kElementwiseNonZero * non_zeros +
                            elementwise_row_issues(types) * rows);
}

} // namespace tessera::codelets
