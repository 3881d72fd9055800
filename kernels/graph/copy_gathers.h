// SPDX-License-Identifier: MIT
// The bytes that a copy moves, as whole words that messages and copying codelets take, and as words that a codelet puts
// together of parts: halves, or bytes.
#pragma once

#include "kernels/graph/copy_atoms.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::graph {

inline constexpr std::uint32_t kWord = 4;
/// Padding up to this many bytes between elements is written as zeros rather than left out.
inline constexpr std::uint32_t kSmallGap = 64;

/// Neighbouring words.
struct WordRun {
    At first;
    std::uint32_t words = 0;
};

/// What a tile has to fetch so that a codelet can put elements where they belong.
struct Gather {
    At to;                           ///< first word that is written
    std::int64_t words = 0;          ///< that are written
    std::vector<std::uint32_t> list; ///< an index of 16 bits for each part
    std::vector<WordRun> needed;     ///< ascending; their place in the temporary follows
    std::uint32_t needed_words = 0;
    bool needs_zero = false; ///< some part holds no element
};

struct Words {
    std::vector<Atom> moves; ///< whole words, by tiles; what goes on in the next one is joined
    std::vector<Gather> gathers;
};

/// `most_words`: that a vertex makes. `part`: bytes of a part, 1 or 2.
[[nodiscard]] Words in_words(const std::vector<Atom>& atoms, const std::vector<Atom>& in_place,
                             std::size_t most_words, std::uint32_t part = 2);

} // namespace tessera::graph
