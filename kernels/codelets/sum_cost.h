// SPDX-License-Identifier: MIT
// Worker issues of sum.S. tests/kernels/codelets/codelet_cost_test.cpp counts them in the assembled
// codelet.
#pragma once

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kSumFrame = 23;      ///< around the loop
constexpr std::int64_t kSumOddOperand = 1;  ///< in front of the loop
constexpr std::int64_t kSumTwoOperands = 2; ///< a round

/// sum_f32 over so many operands of a worker.
[[nodiscard]] constexpr std::int64_t sum_issues(std::int64_t operands) {
    return kSumFrame + kSumOddOperand * (operands % 2) + kSumTwoOperands * (operands / 2);
}

} // namespace tessera::codelets
