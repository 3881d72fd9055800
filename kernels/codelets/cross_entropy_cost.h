// SPDX-License-Identifier: MIT
// Worker issues of cross_entropy.S. tests/kernels/codelets/codelet_cost_test.cpp counts them in the
// assembled codelet.
#pragma once

#include "base/element_type.h"

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kCrossEntropyNothing = 11; ///< a worker without rows
constexpr std::int64_t kCrossEntropyFrame = 22;   ///< around the rows
constexpr std::int64_t kCrossEntropyLnWaits = 5;  ///< behind the issue of an f32ln
constexpr std::int64_t kCrossEntropyExpWaits = 2; ///< behind that of an f32exp

constexpr std::int64_t kCrossEntropyRow = 10 + kCrossEntropyLnWaits; ///< its elements apart
constexpr std::int64_t kCrossEntropyMax = 1;                         ///< of an element
/// The rest of an element.
[[nodiscard]] constexpr std::int64_t cross_entropy_element(ElementType type) {
    return (type == ElementType::F16 ? 7 : 5) + kCrossEntropyExpWaits;
}

/// cross_entropy_<type>: rows of one worker.
[[nodiscard]] constexpr std::int64_t cross_entropy_issues(ElementType type, std::int64_t rows,
                                                          std::int64_t elements) {
    return rows == 0 ? kCrossEntropyNothing
                     : kCrossEntropyFrame +
                           rows * (kCrossEntropyRow +
                                   elements * (kCrossEntropyMax + cross_entropy_element(type)));
}

} // namespace tessera::codelets
