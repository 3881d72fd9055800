// SPDX-License-Identifier: MIT
// Timing mode: whether a round of a repeat leaves a tile as the round before it did. What a round does
// follows from what is known at its begin; so all further rounds do the same.
//
//   end_round(...) at the begin of each round -> false, false, true
//
// The words of the repeat's own round are left out: a phase for which they count says so
// (KnownFacts::rounds_met).
#pragma once

#include "base/units.h"
#include "models/program/known_words.h"
#include "models/tile/core/tile_core.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::tile {

class RoundState {
public:
    /// A tile at the begin of a round. `own_rounds`: words that have the round, ascending.
    struct View {
        program::TileWords& known;
        program::ChangeLog& changes;
        const std::byte* memory = nullptr;
        KnownFacts facts;
        std::vector<std::uint32_t> own_rounds;
    };
    /// Whether the tile is as it was at the last call, and no phase has had to know a round since.
    bool end_round(const View& tile);

private:
    struct Word {
        std::uint32_t number = 0;
        std::uint64_t value = 0; ///< as isa::shadow_value()
        friend bool operator==(const Word&, const Word&) = default;
    };

    bool begun_ = false;
    program::ChangeLog::Mark mark_;
    KnownFacts facts_;
    std::vector<Word> words_; ///< those that changed in the last round, as they are; ascending
};

} // namespace tessera::tile
