// SPDX-License-Identifier: MIT
// Worker issues of gather_rows.S. tests/kernels/codelets/codelet_cost_test.cpp counts them in the
// assembled codelets.
#pragma once

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kGatherRowsNothing = 14; ///< a worker that has no row numbers or words
constexpr std::int64_t kGatherRowsFrame = 23;   ///< once, beside its rows
constexpr std::int64_t kGatherRow = 10;         ///< for each row, beside its words
constexpr std::int64_t kGatherRowWord = 2;

constexpr std::int64_t kJoinRowsFrame = 21; ///< once, beside its words
constexpr std::int64_t kJoinWord = 6;       ///< for each word, beside those that are joined to it
constexpr std::int64_t kJoinOther = 2;

/// gather_rows: row numbers of one worker, and words of 8 bytes in a row.
[[nodiscard]] constexpr std::int64_t gather_rows_issues(std::int64_t numbers, std::int64_t words) {
    return numbers == 0 ? kGatherRowsNothing
                        : kGatherRowsFrame + numbers * (kGatherRow + kGatherRowWord * words);
}

/// join_rows: words of one worker, and tables (`others`) that each give one word to join.
[[nodiscard]] constexpr std::int64_t join_rows_issues(std::int64_t words, std::int64_t others) {
    return words == 0 ? kGatherRowsNothing
                      : kJoinRowsFrame + words * (kJoinWord + kJoinOther * others);
}

} // namespace tessera::codelets
