// SPDX-License-Identifier: MIT
// Worker issues of spmm_turn_f16.S, spmm_turn_f32.S and gather_words.S. tests/kernels/codelets/codelet_cost_test.cpp counts them in the
// assembled codelets.
#pragma once

#include "base/units.h"

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kTurnBlocksNothing = 7; ///< a worker without blocks
constexpr std::int64_t kTurnBlocksFrame = 14;  ///< around the blocks
constexpr std::int64_t kTurnBlockLoop = 6;     ///< of a block, around its tiles
constexpr std::int64_t kTurnHalvesEnds =
    10;                                     ///< of a block: the first tile comes, the last one goes
constexpr std::int64_t kTurnHalvesNext = 8; ///< a further tile of 4 x 4
constexpr std::int64_t kTurnWordsEnds = 5;  ///< the same of FP32
constexpr std::int64_t kTurnWordsNext = 4;  ///< a further tile of 2 x 2

constexpr std::int64_t kGatherWordsNothing = 14; ///< a worker without words
constexpr std::int64_t kGatherWordsFrame = 19;   ///< around the words
constexpr std::int64_t kGatherWordsWord = 3;

/// spmm_turn_*: blocks of one worker, `element` bytes each of their elements.
[[nodiscard]] constexpr std::int64_t turn_blocks_issues(std::int64_t block, Bytes element,
                                                        std::int64_t blocks) {
    const std::int64_t side = block * element / 8; // tiles
    const bool halves = element == 2;
    const std::int64_t of_block = kTurnBlockLoop + (halves ? kTurnHalvesEnds : kTurnWordsEnds) +
                                  (side * side - 1) * (halves ? kTurnHalvesNext : kTurnWordsNext);
    return blocks == 0 ? kTurnBlocksNothing : kTurnBlocksFrame + blocks * of_block;
}
/// gather32: words of one worker.
[[nodiscard]] constexpr std::int64_t gather_words_issues(std::int64_t words) {
    return words == 0 ? kGatherWordsNothing : kGatherWordsFrame + words * kGatherWordsWord;
}

} // namespace tessera::codelets
