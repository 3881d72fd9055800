// SPDX-License-Identifier: MIT
// Worker issues of copy.S and copy_paced.S. tests/kernels/codelet_cost_test.cpp counts them in the
// assembled codelets.
#pragma once

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kCopyFrame = 16; ///< around the loop
constexpr std::int64_t kCopyWord = 2;

constexpr std::int64_t kPacedCopyNothing = 16;   ///< a worker without words
constexpr std::int64_t kPacedCopyFirstWord = 21; ///< all around the loop
constexpr std::int64_t kPacedCopyWord = 1;

/// copy64 and copy32: words of one worker.
[[nodiscard]] constexpr std::int64_t copy_issues(std::int64_t words) {
    return kCopyFrame + kCopyWord * words;
}

/// copy64_paced.
[[nodiscard]] constexpr std::int64_t paced_copy_issues(std::int64_t words) {
    return words == 0 ? kPacedCopyNothing : kPacedCopyFirstWord + kPacedCopyWord * (words - 1);
}

} // namespace tessera::codelets
