// SPDX-License-Identifier: MIT
// Worker issues of one_hot.S. tests/kernels/codelets/codelet_cost_test.cpp counts them in the
// assembled codelet.
#pragma once

#include "base/element_type.h"

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kOneHotNothing = 7; ///< a worker without rows
constexpr std::int64_t kOneHotFrame = 16;  ///< around the rows
constexpr std::int64_t kOneHotWord = 1;    ///< 8 bytes of a row
/// A row, its words apart.
[[nodiscard]] constexpr std::int64_t one_hot_row(ElementType type) {
    return type == ElementType::F16 ? 18 : 14;
}

/// one_hot_<type>: rows of one worker, of so many words of 8 bytes.
[[nodiscard]] constexpr std::int64_t one_hot_issues(ElementType type, std::int64_t rows,
                                                    std::int64_t words) {
    return rows == 0 ? kOneHotNothing
                     : kOneHotFrame + rows * (one_hot_row(type) + words * kOneHotWord);
}

} // namespace tessera::codelets
