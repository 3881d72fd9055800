// SPDX-License-Identifier: MIT
// Worker issues of gather.S. tests/kernels/codelets/codelet_cost_test.cpp counts them in the
// assembled codelet.
#pragma once

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kGatherNothing = 14;   ///< a worker without words
constexpr std::int64_t kGatherFirstWord = 25; ///< all around the loop
constexpr std::int64_t kGatherWord = 5;

constexpr std::int64_t kGatherBytesFrame = 19; ///< all around the loop of gather8
constexpr std::int64_t kGatherBytesWord = 12;

/// gather16: words of one worker.
[[nodiscard]] constexpr std::int64_t gather_issues(std::int64_t words) {
    return words == 0 ? kGatherNothing : kGatherFirstWord + kGatherWord * (words - 1);
}
/// gather8.
[[nodiscard]] constexpr std::int64_t gather_bytes_issues(std::int64_t words) {
    return words == 0 ? kGatherNothing : kGatherBytesFrame + kGatherBytesWord * words;
}

} // namespace tessera::codelets
