// SPDX-License-Identifier: MIT
// Which events of many timelines are taken: one bit an event, and the search for the first stretch
// that is free on several timelines at once.
#pragma once

#include "base/units.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::plan {

/// A stretch that begins at `offset` + start on `lane`.
struct LaneUse {
    std::uint32_t lane = 0;
    std::int32_t offset = 0;
};

class EventLanes {
public:
    /// Adds `count` empty lanes; returns the number of the first.
    std::uint32_t add(std::size_t count);

    /// Takes `count` events from `first` on; events below 0 are left out.
    void take(std::uint32_t lane, Cycles first, std::int64_t count);

    [[nodiscard]] bool taken(std::uint32_t lane, Cycles event) const {
        return event >= 0 && (window(lane, event) & 1U) != 0;
    }
    [[nodiscard]] bool any_taken(std::uint32_t lane, Cycles first, std::int64_t count) const;

    /// Last taken event of the `count` events from `first` on, or -1.
    [[nodiscard]] Cycles last_taken(std::uint32_t lane, Cycles first, std::int64_t count) const;

    /// Least start >= `from` at which `items` events are free on every lane used.
    /// `from` + offset >= 0 for all of them.
    [[nodiscard]] Cycles first_free(std::span<const LaneUse> uses, Cycles from, std::int64_t items);

    /// Of the `most` events from `start` on, how many are free on every lane used before the first
    /// that is not.
    [[nodiscard]] std::int64_t free_from(std::span<const LaneUse> uses, Cycles start,
                                         std::int64_t most) const;

private:
    static constexpr int kClasses = 24; ///< of lengths, by powers of two

    struct Lane {
        std::vector<std::uint64_t> words;
        /// No stretch of 2^class free events begins before full_before[class].
        std::array<std::int32_t, kClasses> full_before{};
    };

    /// The 64 events from `event` >= 0 on.
    [[nodiscard]] std::uint64_t window(std::uint32_t lane, Cycles event) const {
        const auto& words = lanes_[lane].words;
        const auto word = static_cast<std::size_t>(event) / 64;
        const auto bit = static_cast<unsigned>(event) % 64;
        if (word + 1 < words.size())
            return bit == 0 ? words[word] : words[word] >> bit | words[word + 1] << (64 - bit);
        return word < words.size() ? words[word] >> bit : 0;
    }
    [[nodiscard]] Cycles search(std::span<const LaneUse> uses, Cycles from,
                                std::int64_t items) const;

    std::vector<Lane> lanes_;
};

} // namespace tessera::plan
