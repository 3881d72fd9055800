// SPDX-License-Identifier: MIT
// Worker issues of spmm_sampled.S. tests/kernels/codelets/codelet_cost_test.cpp counts them in the assembled codelets.
#pragma once

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kSampledNothing = 11; ///< a worker without units
constexpr std::int64_t kSampledFrame = 23;   ///< around the units
constexpr std::int64_t kSampledUnit = 16;    ///< around its products
constexpr std::int64_t kSampledProduct = 3;  ///< around the words of 8 bytes but the last
constexpr std::int64_t kSampledNext = 3;     ///< between two products of a unit
constexpr std::int64_t kSampledWord = 1;

/// spmm_sampled_*: units of one worker, products of a unit, words of 8 bytes of a row.
[[nodiscard]] constexpr std::int64_t sampled_issues(std::int64_t units, std::int64_t products,
                                                    std::int64_t words) {
    const std::int64_t of_unit = kSampledUnit +
                                 products * (kSampledProduct + (words - 1) * kSampledWord) +
                                 (products - 1) * kSampledNext;
    return units == 0 ? kSampledNothing : kSampledFrame + units * of_unit;
}

} // namespace tessera::codelets
