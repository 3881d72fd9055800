// SPDX-License-Identifier: MIT
// Which events of many timelines are taken, and the search for the first stretch that is free on
// several timelines at once. Cost grows with the number of stretches taken, never with their
// length.
#pragma once

#include "base/units.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::exchange_plan {

/// A stretch that begins at `offset` + start on `lane`.
struct LaneUse {
    std::uint32_t lane = 0;
    std::int32_t offset = 0;
};

/// Events are below 2^31.
class EventLanes {
public:
    /// Adds `count` empty lanes; returns the number of the first.
    std::uint32_t add(std::size_t count);

    /// The lane will be used soon.
    void prefetch(std::uint32_t lane) const {
        __builtin_prefetch(&lanes_[lane].taken);
        __builtin_prefetch(&lanes_[lane].full_before.back());
    }

    /// Takes `count` events from `first` on; events below 0 are left out.
    void take(std::uint32_t lane, Cycles first, std::int64_t count);

    [[nodiscard]] bool taken(std::uint32_t lane, Cycles event) const {
        return any_taken(lane, event, 1);
    }
    [[nodiscard]] bool any_taken(std::uint32_t lane, Cycles first, std::int64_t count) const {
        return last_taken(lane, first, count) >= 0;
    }

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

    /// Taken events [begin, end).
    struct Stretch {
        std::int32_t begin = 0;
        std::int32_t end = 0;
    };

    struct Lane {
        std::vector<Stretch> taken; ///< ascending, with free events between any two
        /// No stretch of 2^class free events begins before full_before[class].
        std::array<std::int32_t, kClasses> full_before{};
    };

    /// A lane that is searched, and how far.
    struct Cursor {
        const Stretch* next = nullptr; ///< the first that ends behind the start at hand
        const Stretch* end = nullptr;
        std::int32_t offset = 0;
    };

    [[nodiscard]] static const Stretch* first_ending_behind(const Lane& lane, Cycles event);
    /// The start moved behind what is taken there, if anything is.
    [[nodiscard]] static Cycles pass(Cursor& at, Cycles start, std::int64_t items);

    std::vector<Lane> lanes_;
    std::vector<Cursor> cursors_; ///< scratch
};

} // namespace tessera::exchange_plan
