// SPDX-License-Identifier: MIT
// Worker issues of turn.S. tests/kernels/codelets/codelet_cost_test.cpp counts them in the assembled codelet.
#pragma once

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kTurnFrame = 23; ///< around the lines
constexpr std::int64_t kTurnLine = 44;
/// The check for lines of another place: each worker makes it once, in the frame, and again behind such lines.
constexpr std::int64_t kTurnLook = 3;
constexpr std::int64_t kTurnOthers = 6; ///< from the lines of one place to those of another one

/// turn_f16: lines of one worker. A worker looks for others once more behind others of its own.
[[nodiscard]] constexpr std::int64_t turn_issues(std::int64_t lines, std::int64_t others = 0,
                                                 bool has_others = false) {
    return kTurnFrame + (lines + others) * kTurnLine + (has_others ? kTurnOthers : 0) +
           (others > 0 ? kTurnLook : 0);
}

} // namespace tessera::codelets
