// SPDX-License-Identifier: MIT
#include "kernels/plan/event_lanes.h"

#include <algorithm>
#include <bit>

namespace tessera::plan {

std::uint32_t EventLanes::add(std::size_t count) {
    const auto first = lanes_.size();
    lanes_.resize(first + count);
    return static_cast<std::uint32_t>(first);
}

void EventLanes::take(std::uint32_t lane, Cycles first, std::int64_t count) {
    const auto end = first + count;
    first = std::max<Cycles>(first, 0);
    if (first >= end)
        return;
    auto& words = lanes_[lane].words;
    const auto last_word = static_cast<std::size_t>(end - 1) / 64;
    if (last_word >= words.size())
        words.resize(std::max(last_word + 1, 2 * words.size()));
    for (auto word = static_cast<std::size_t>(first) / 64; word <= last_word; ++word) {
        const auto base = static_cast<Cycles>(word) * 64;
        const auto low = static_cast<unsigned>(std::max<Cycles>(first - base, 0));
        const auto high = static_cast<unsigned>(std::min<Cycles>(end - base, 64));
        words[word] |= (~std::uint64_t{0} << low) & (~std::uint64_t{0} >> (64 - high));
    }
}

bool EventLanes::any_taken(std::uint32_t lane, Cycles first, std::int64_t count) const {
    return last_taken(lane, first, count) >= 0;
}

Cycles EventLanes::last_taken(std::uint32_t lane, Cycles first, std::int64_t count) const {
    const auto end = first + count;
    Cycles last = -1;
    for (auto at = std::max<Cycles>(first, 0); at < end; at += 64) {
        auto bits = window(lane, at);
        if (end - at < 64)
            bits &= ~(~std::uint64_t{0} << static_cast<unsigned>(end - at));
        if (bits != 0)
            last = at + 63 - std::countl_zero(bits);
    }
    return last;
}

Cycles EventLanes::first_free(std::span<const LaneUse> uses, Cycles from, std::int64_t items) {
    const auto length_class = std::min(
        static_cast<int>(std::bit_width(static_cast<std::uint64_t>(items))) - 1, kClasses - 1);
    for (const auto& use : uses) {
        auto& full = lanes_[use.lane].full_before[static_cast<std::size_t>(length_class)];
        const LaneUse alone{use.lane, 0};
        full =
            static_cast<std::int32_t>(search({&alone, 1}, full, std::int64_t{1} << length_class));
        from = std::max<Cycles>(from, full - use.offset);
    }
    return search(uses, from, items);
}

std::int64_t EventLanes::free_from(std::span<const LaneUse> uses, Cycles start,
                                   std::int64_t most) const {
    for (std::int64_t free = 0; free < most; free += 64) {
        std::uint64_t busy = 0;
        for (const auto& use : uses)
            busy |= window(use.lane, start + free + use.offset);
        if (busy != 0)
            return std::min(most, free + std::countr_zero(busy));
    }
    return most;
}

Cycles EventLanes::search(std::span<const LaneUse> uses, Cycles from, std::int64_t items) const {
    std::int64_t free = 0; // events that end right before `at`
    for (auto at = from;; at += 64) {
        std::uint64_t busy = 0;
        for (const auto& use : uses)
            busy |= window(use.lane, at + use.offset);
        for (int bit = 0; bit < 64;) {
            const auto rest = busy >> bit;
            const auto gap = rest == 0 ? 64 - bit : std::countr_zero(rest);
            free += gap;
            if (free >= items)
                return at + bit + gap - free;
            bit += gap;
            if (bit >= 64)
                break;
            free = 0;
            bit += std::countr_one(busy >> bit);
        }
    }
}

} // namespace tessera::plan
