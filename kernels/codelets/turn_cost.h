// SPDX-License-Identifier: MIT
// Worker issues of turn.S. tests/kernels/codelets/codelet_cost_test.cpp counts them in the assembled codelet.
#pragma once

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kTurnNothing = 7; ///< a worker without lines
constexpr std::int64_t kTurnFrame = 19;  ///< around the lines
constexpr std::int64_t kTurnLine = 47;

/// turn_f16: lines of one worker.
[[nodiscard]] constexpr std::int64_t turn_issues(std::int64_t lines) {
    return lines == 0 ? kTurnNothing : kTurnFrame + lines * kTurnLine;
}

} // namespace tessera::codelets
