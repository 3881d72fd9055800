// SPDX-License-Identifier: MIT
// Worker issues of scatter_add.S. tests/kernels/codelets/codelet_cost_test.cpp counts them in the
// assembled codelet.
#pragma once

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kScatterAddNothing = 14; ///< a worker that has no words of a row
constexpr std::int64_t kScatterAddFrame = 22;   ///< once, beside its rows
constexpr std::int64_t kScatterAddRow = 12;     ///< for each row, beside its words
constexpr std::int64_t kScatterAddWord = 4;

/// scatter_add: rows that are added, and words of 8 bytes of each that are the worker's.
[[nodiscard]] constexpr std::int64_t scatter_add_issues(std::int64_t rows, std::int64_t words) {
    return words == 0 ? kScatterAddNothing
                      : kScatterAddFrame + rows * (kScatterAddRow + kScatterAddWord * words);
}

} // namespace tessera::codelets
