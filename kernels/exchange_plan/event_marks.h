// SPDX-License-Identifier: MIT
// A set of events, one bit each. It is for frequent queries about single events, not ranges.
#pragma once

#include "base/units.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::exchange_plan {

class EventMarks {
public:
    /// Events below 0 are ignored.
    void mark(Cycles event) {
        if (event < 0)
            return;
        const auto word = static_cast<std::size_t>(event / kBits);
        if (word >= words_.size())
            words_.resize(word + 1);
        words_[word] |= std::uint64_t{1} << static_cast<unsigned>(event % kBits);
    }

    [[nodiscard]] bool marked(Cycles event) const {
        const auto word = static_cast<std::size_t>(event / kBits);
        return event >= 0 && word < words_.size() &&
               (words_[word] >> static_cast<unsigned>(event % kBits) & 1U) != 0;
    }

    /// Whether one of the few events from `first` on is marked.
    [[nodiscard]] bool any_marked(Cycles first, int count) const {
        bool any = false;
        for (int i = 0; i < count; ++i)
            any = any || marked(first + i);
        return any;
    }

private:
    static constexpr Cycles kBits = 64;

    std::vector<std::uint64_t> words_;
};

} // namespace tessera::exchange_plan
