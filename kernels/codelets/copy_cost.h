// SPDX-License-Identifier: MIT
// How many issues (instructions or bundles) a worker executes in copy.S, copy_known.S, copy_paced.S,
// copy_row.S and copy_runs.S. tests/kernels/codelets/codelet_cost_test.cpp compares these numbers with the
// assembled codelets.
#pragma once

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kCopyFrame = 16; ///< before and after the loop
constexpr std::int64_t kCopyWord = 2;   ///< for each word

constexpr std::int64_t kPacedCopyNothing = 16;   ///< if the worker has no words
constexpr std::int64_t kPacedCopyFirstWord = 21; ///< with everything outside the loop
constexpr std::int64_t kPacedCopyWord = 1;       ///< for each further word

constexpr std::int64_t kCopyRowFrame = 24; ///< before and after the loop of copy_row.S

constexpr std::int64_t kCopyRunsNothing = 7; ///< if the worker has no runs of words
constexpr std::int64_t kCopyRunsFrame = 12;  ///< before and after the runs
constexpr std::int64_t kCopyRun = 9;         ///< for each run, without its words

/// Returns the issues of a worker that copies `words` words by copy64, copy32 or copy_known32.
[[nodiscard]] constexpr std::int64_t copy_issues(std::int64_t words) {
    return kCopyFrame + kCopyWord * words;
}

/// Returns the issues of a worker that copies `words` words by copy64_paced.
[[nodiscard]] constexpr std::int64_t paced_copy_issues(std::int64_t words) {
    return words == 0 ? kPacedCopyNothing : kPacedCopyFirstWord + kPacedCopyWord * (words - 1);
}

/// Returns the issues of a worker that copies `runs` runs (sequences of words) by copy_runs64 or
/// copy_runs32. `words` is the total over the runs.
[[nodiscard]] constexpr std::int64_t copy_runs_issues(std::int64_t runs, std::int64_t words) {
    return runs == 0 ? kCopyRunsNothing : kCopyRunsFrame + kCopyRun * runs + kCopyWord * words;
}

} // namespace tessera::codelets
