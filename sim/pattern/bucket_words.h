// SPDX-License-Identifier: MIT
// The metadata of a bucket in words: what each of its numbers says. Format: kernels/dynamic/layout.h.
//
//   word  numbers        says
//      0  1 0 0 4 13 1   sub-group 1, of part x 0, y 0: 4 blocks in 13 words, in 2 rows
//      7  3 1            row 3 of the part, 3 of the matrix: 2 blocks
//      9  0 5            in columns 0 5 of the part, 0 5 of the matrix
//     13  0              the end
#pragma once

#include "kernels/dynamic/layout.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::pattern {

struct WordsTold {
    std::int64_t word = 0; ///< the first of them
    std::string numbers;
    std::string says;
};

/// Of bucket `number`, without the room that is left behind the end.
[[nodiscard]] std::vector<WordsTold> told_words(const dynamic::Layout& layout,
                                                std::span<const std::uint16_t> words,
                                                std::int64_t number);

} // namespace tessera::pattern
