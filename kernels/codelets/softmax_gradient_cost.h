// SPDX-License-Identifier: MIT
// Worker issues of softmax_gradient.S. tests/kernels/codelets/codelet_cost_test.cpp counts them in the
// assembled codelets.
#pragma once

#include "base/element_type.h"

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kSoftmaxGradientNothing = 7; ///< a worker without rows

constexpr std::int64_t kSoftmaxGradientSumsFrame = 21; ///< around the rows
constexpr std::int64_t kSoftmaxGradientSumsRow = 8;    ///< its units apart
constexpr std::int64_t kSoftmaxGradientSumsUnit = 2;
constexpr std::int64_t kSoftmaxGradientSumsTail = 6; ///< a unit that is not whole

constexpr std::int64_t kSoftmaxGradientApplyFrame = 25;
constexpr std::int64_t kSoftmaxGradientApplyRow = 8; ///< its shares and units apart
constexpr std::int64_t kSoftmaxGradientApplyShare = 1;
[[nodiscard]] constexpr std::int64_t softmax_gradient_apply_unit(ElementType type) {
    return type == ElementType::F16 ? 11 : 4;
}

/// softmax_gradient_sums_<type>: `units` whole ones of each row are the worker's.
[[nodiscard]] constexpr std::int64_t
softmax_gradient_sums_issues(std::int64_t rows, std::int64_t units, bool has_tail) {
    return rows == 0 ? kSoftmaxGradientNothing
                     : kSoftmaxGradientSumsFrame +
                           rows * (kSoftmaxGradientSumsRow + units * kSoftmaxGradientSumsUnit +
                                   (has_tail ? kSoftmaxGradientSumsTail : 0));
}

/// softmax_gradient_apply_<type>: `units` of each row are the worker's, one that is not whole counted.
[[nodiscard]] constexpr std::int64_t softmax_gradient_apply_issues(ElementType type,
                                                                   std::int64_t rows,
                                                                   std::int64_t units,
                                                                   std::int64_t shares) {
    return rows == 0 ? kSoftmaxGradientNothing
                     : kSoftmaxGradientApplyFrame +
                           rows * (kSoftmaxGradientApplyRow + shares * kSoftmaxGradientApplyShare +
                                   units * softmax_gradient_apply_unit(type));
}

} // namespace tessera::codelets
