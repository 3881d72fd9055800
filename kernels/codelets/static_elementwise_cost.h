// SPDX-License-Identifier: MIT
// Worker issues of the published element-sparse vertices (published/sparse_dense_elementwise.S and _float.S, whose
// headers say where each number comes from). tests/kernels/sparse/spmm_published_work_test.cpp holds them to runs.
#pragma once

#include "kernels/codelets/product_types.h"

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kStaticElementwiseNothing = 8; ///< a worker without rows
/// Around the rows of a worker: 24 issues of ELEMENTWISE_BEGIN, 2 or 4 that look at the number of columns, up to 7 that
/// the loop for it begins with, and the exit. These are 27 to 36 by the number of columns; one number serves for all.
constexpr std::int64_t kStaticElementwiseFrame = 34;

/// StaticSparseDenseElementWise: a row with so many non-zeros times so many columns.
[[nodiscard]] constexpr std::int64_t static_elementwise_row(ElementType data, bool half_out,
                                                            std::int64_t non_zeros,
                                                            std::int64_t columns) {
    const std::int64_t two = 2 * non_zeros;
    const std::int64_t three = 3 * non_zeros;
    if (data == ElementType::F32) {
        return columns == 2   ? two + 4
               : columns == 4 ? three + 5
                              : 11 + columns / 4 * (three + 9) + columns % 4 / 2 * (two + 6);
    }
    const std::int64_t wider = half_out ? 0 : 1;
    return columns == 4   ? two + 4 + wider
           : columns == 8 ? three + 6 + wider
                          : 10 + columns / 8 * (three + 11) + columns % 8 / 4 * (two + 7);
}

} // namespace tessera::codelets
