// SPDX-License-Identifier: MIT
// Worker issues of copy.S, copy_known.S, copy_paced.S and copy_runs.S.
// tests/kernels/codelets/codelet_cost_test.cpp counts them in the assembled codelets.
#pragma once

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kCopyFrame = 16; ///< around the loop
constexpr std::int64_t kCopyWord = 2;

constexpr std::int64_t kPacedCopyNothing = 16;   ///< a worker without words
constexpr std::int64_t kPacedCopyFirstWord = 21; ///< all around the loop
constexpr std::int64_t kPacedCopyWord = 1;

constexpr std::int64_t kCopyRunsNothing = 7; ///< a worker without runs
constexpr std::int64_t kCopyRunsFrame = 12;  ///< around the runs
constexpr std::int64_t kCopyRun = 9;         ///< around its words

/// copy64, copy32 and copy_known32: words of one worker.
[[nodiscard]] constexpr std::int64_t copy_issues(std::int64_t words) {
    return kCopyFrame + kCopyWord * words;
}

/// copy64_paced.
[[nodiscard]] constexpr std::int64_t paced_copy_issues(std::int64_t words) {
    return words == 0 ? kPacedCopyNothing : kPacedCopyFirstWord + kPacedCopyWord * (words - 1);
}

/// copy_runs64 and copy_runs32: runs of one worker, and the words that they have together.
[[nodiscard]] constexpr std::int64_t copy_runs_issues(std::int64_t runs, std::int64_t words) {
    return runs == 0 ? kCopyRunsNothing : kCopyRunsFrame + kCopyRun * runs + kCopyWord * words;
}

} // namespace tessera::codelets
