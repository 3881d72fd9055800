// SPDX-License-Identifier: MIT
// Worker issues of reduce_add.S. tests/kernels/codelets/codelet_cost_test.cpp counts them in the
// assembled codelets.
#pragma once

#include "kernels/codelets/product_types.h"

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kReduceNothing = 11; ///< a worker without units
constexpr std::int64_t kReduceFrame = 24;   ///< around the loop over units
constexpr std::int64_t kReduceSlice = 1;    ///< of a unit

/// Worker issues of a unit, without its slices.
[[nodiscard]] constexpr std::int64_t reduce_unit_issues(ProductTypes types) {
    if (types.data == ElementType::F32) {
        return 7;
    }
    return types.partials == ElementType::F16 ? 8 : 6;
}

/// reduce_<p>: units of one worker.
[[nodiscard]] constexpr std::int64_t reduce_issues(ProductTypes types, std::int64_t units,
                                                   std::int64_t slices) {
    return units == 0 ? kReduceNothing
                      : kReduceFrame + units * (kReduceSlice * slices + reduce_unit_issues(types));
}

} // namespace tessera::codelets
