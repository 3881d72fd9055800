// SPDX-License-Identifier: MIT
#include "models/tile/core/round_state.h"

#include "models/isa/shadow.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tessera::tile {

bool RoundState::end_round(const View& tile) {
    const auto changed = begun_ ? tile.changes.since(mark_) : std::nullopt;
    std::vector<Word> words;
    for (const program::WordRange& range : changed.value_or(std::vector<program::WordRange>{})) {
        for (std::uint32_t word = range.first; word < range.first + range.count; ++word) {
            if (std::ranges::find(tile.own_rounds, word) == tile.own_rounds.end()) {
                std::uint32_t value = 0;
                std::memcpy(&value, tile.memory + std::size_t{word} * 4, sizeof value);
                words.push_back({word, isa::shadow_value(tile.known.get(word), value)});
            }
        }
    }
    const bool same =
        changed && facts_.registers == tile.facts.registers &&
        facts_.rounds_met == tile.facts.rounds_met &&
        std::ranges::includes(words_, words, [](const Word& left, const Word& right) {
            return std::pair(left.number, left.value) < std::pair(right.number, right.value);
        });
    if (!same) {
        words_ = std::move(words);
    }
    begun_ = true;
    mark_ = tile.changes.mark();
    facts_ = tile.facts;
    return same;
}

} // namespace tessera::tile
