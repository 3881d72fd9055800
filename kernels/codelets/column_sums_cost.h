// SPDX-License-Identifier: MIT
// Worker issues of column_sums.S. tests/kernels/codelets/codelet_cost_test.cpp counts them in the
// assembled codelets.
#pragma once

#include "base/element_type.h"

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kColumnSumsNothing = 11; ///< a worker without units
constexpr std::int64_t kColumnSumsFrame = 22;   ///< around the units
constexpr std::int64_t kColumnSumsRow = 1;      ///< of a unit
/// Its rows apart.
[[nodiscard]] constexpr std::int64_t column_sums_unit(ElementType type) {
    return type == ElementType::F16 ? 7 : 6;
}

/// column_sums_<type>: units of one worker.
[[nodiscard]] constexpr std::int64_t column_sums_issues(ElementType type, std::int64_t units,
                                                        std::int64_t rows) {
    return units == 0 ? kColumnSumsNothing
                      : kColumnSumsFrame + units * (column_sums_unit(type) + rows * kColumnSumsRow);
}

} // namespace tessera::codelets
