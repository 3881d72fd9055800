// SPDX-License-Identifier: MIT
// Joins the two ends of every message between chips, and finds before a run what cannot end well.
//
//   chip 0: exchange "ring", sends, channel 1, index 0 --+
//                                                        +--> a bound message
//   chip 1: exchange "ring", receives, channel 0, index 0 --+   (peers[0][1] = {1, 0})
#pragma once

#include "models/program/system_program.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::program {

struct BoundMessage {
    std::uint32_t from_chip = 0;
    std::uint32_t to_chip = 0;
    LinkPlace from;
    LinkPlace into;
};

/// A chip's part of a link exchange: numbers in SystemBinding::messages.
struct BoundExchange {
    std::vector<std::uint32_t> sends; ///< ascending tiles, of a tile in the program's order
    std::vector<std::uint32_t> receives;
    std::vector<TileId> tiles; ///< that take part, ascending
    bool indexed = false;      ///< a place depends on a word
};

struct SystemBinding {
    std::vector<BoundMessage> messages;
    std::vector<std::vector<BoundExchange>> exchanges; ///< by chip, then link exchange
};

/// @throws ProgramError where a zone is no partition of the chips or is not there; where a message has
/// no other end, another size there or a place outside the chip's tiles; where a place is no whole
/// words; where a word of a step has two writers or a writer and a reader (of places that no word names).
[[nodiscard]] SystemBinding bind(const SystemProgram& system, TileId tiles);

/// Walks the meetings of all chips together, as far as no word decides. @throws ProgramError with who
/// waits for whom where they do not end: a circle, a meeting that a chip lacks, loops of unequal counts.
void check_meetings(const SystemProgram& system);

/// A stretch of a tile's memory that a link exchange uses.
struct LinkUse {
    TileId tile = 0;
    Address address = 0;
    Bytes bytes = 0;
    bool writes = false;
    std::uint32_t message = 0;
};
/// Of one chip in one step. @throws ProgramError where two have a word in common of which one writes.
/// Changes the order of `uses`.
void check_uses(const SystemProgram& system, const SystemBinding& binding, std::size_t chip,
                std::size_t exchange, std::vector<LinkUse>& uses);

} // namespace tessera::program
