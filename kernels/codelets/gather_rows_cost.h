// SPDX-License-Identifier: MIT
// Worker issues of gather_rows.S. tests/kernels/codelets/codelet_cost_test.cpp counts them in the
// assembled codelets.
#pragma once

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kGatherRowsNothing = 14; ///< a worker without numbers or words
constexpr std::int64_t kGatherRowsFrame = 23;   ///< around the numbers
constexpr std::int64_t kGatherRow = 10;         ///< around its words
constexpr std::int64_t kGatherRowWord = 2;

constexpr std::int64_t kJoinRowsFrame = 21; ///< around the words
constexpr std::int64_t kJoinWord = 6;       ///< around those of the others
constexpr std::int64_t kJoinOther = 2;

/// gather_rows: numbers of one worker, and words of 8 bytes of a row.
[[nodiscard]] constexpr std::int64_t gather_rows_issues(std::int64_t numbers, std::int64_t words) {
    return numbers == 0 ? kGatherRowsNothing
                        : kGatherRowsFrame + numbers * (kGatherRow + kGatherRowWord * words);
}

/// join_rows: words of one worker.
[[nodiscard]] constexpr std::int64_t join_rows_issues(std::int64_t words, std::int64_t others) {
    return words == 0 ? kGatherRowsNothing
                      : kJoinRowsFrame + words * (kJoinWord + kJoinOther * others);
}

} // namespace tessera::codelets
