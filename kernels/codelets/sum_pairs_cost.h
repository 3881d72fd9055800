// SPDX-License-Identifier: MIT
// Worker issues of sum_pairs.S. tests/kernels/codelets/codelet_cost_test.cpp counts them in the
// assembled codelet.
#pragma once

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kSumPairsFrame = 9;       ///< around the loop
constexpr std::int64_t kSumPairsTotalFrame = 12; ///< the same of sum_pairs_total
constexpr std::int64_t kSumPairsPair = 1;        ///< each but the first

} // namespace tessera::codelets
