// SPDX-License-Identifier: MIT
#include "kernels/exchange_plan/event_lanes.h"

#include <algorithm>
#include <bit>

namespace tessera::exchange_plan {

std::uint32_t EventLanes::add(std::size_t count) {
    const auto first = lanes_.size();
    lanes_.resize(first + count);
    return static_cast<std::uint32_t>(first);
}

void EventLanes::take(std::uint32_t lane, Cycles first, std::int64_t count) {
    const Stretch fresh{static_cast<std::int32_t>(std::max<Cycles>(first, 0)),
                        static_cast<std::int32_t>(first + count)};
    if (fresh.begin >= fresh.end)
        return;
    auto& taken = lanes_[lane].taken;
    if (taken.empty() || taken.back().end < fresh.begin) {
        taken.push_back(fresh);
        return;
    }
    // Those that it touches become one.
    const auto begin = std::partition_point(
        taken.begin(), taken.end(), [&](const Stretch& other) { return other.end < fresh.begin; });
    auto end = begin;
    while (end != taken.end() && end->begin <= fresh.end)
        ++end;
    if (begin == end) {
        taken.insert(begin, fresh);
        return;
    }
    begin->begin = std::min(begin->begin, fresh.begin);
    begin->end = std::max((end - 1)->end, fresh.end);
    taken.erase(begin + 1, end);
}

const EventLanes::Stretch* EventLanes::first_ending_behind(const Lane& lane, Cycles event) {
    const auto* begin = lane.taken.data();
    return std::partition_point(begin, begin + lane.taken.size(),
                                [&](const Stretch& other) { return other.end <= event; });
}

Cycles EventLanes::last_taken(std::uint32_t lane, Cycles first, std::int64_t count) const {
    const auto& taken = lanes_[lane].taken;
    const auto end = first + count;
    const auto behind = std::partition_point(
        taken.begin(), taken.end(), [&](const Stretch& other) { return other.begin < end; });
    if (behind == taken.begin() || (behind - 1)->end <= first)
        return -1;
    return std::min<Cycles>((behind - 1)->end, end) - 1;
}

Cycles EventLanes::pass(Cursor& at, Cycles start, std::int64_t items) {
    auto first = start + at.offset;
    for (; at.next != at.end && at.next->begin < first + items; ++at.next)
        first = std::max<Cycles>(first, at.next->end);
    return first - at.offset;
}

Cycles EventLanes::first_free(std::span<const LaneUse> uses, Cycles from, std::int64_t items) {
    const auto length_class = std::min(
        static_cast<int>(std::bit_width(static_cast<std::uint64_t>(items))) - 1, kClasses - 1);
    cursors_.clear();
    for (const auto& use : uses) {
        auto& lane = lanes_[use.lane];
        auto& full = lane.full_before[static_cast<std::size_t>(length_class)];
        const auto* end = lane.taken.data() + lane.taken.size();
        Cursor cursor{first_ending_behind(lane, full), end, 0};
        full = static_cast<std::int32_t>(pass(cursor, full, std::int64_t{1} << length_class));
        from = std::max<Cycles>(from, full - use.offset);
        cursors_.push_back({cursor.next, end, use.offset});
    }
    // In turn, until all agree.
    const auto count = cursors_.size();
    for (std::size_t agreed = 0, i = 0; agreed < count; i = i + 1 < count ? i + 1 : 0) {
        const auto start = pass(cursors_[i], from, items);
        agreed = start == from ? agreed + 1 : 1;
        from = start;
    }
    return from;
}

std::int64_t EventLanes::free_from(std::span<const LaneUse> uses, Cycles start,
                                   std::int64_t most) const {
    for (const auto& use : uses) {
        const auto& lane = lanes_[use.lane];
        const auto* next = first_ending_behind(lane, start + use.offset);
        if (next != lane.taken.data() + lane.taken.size())
            most = std::min(most, std::max<std::int64_t>(next->begin - use.offset - start, 0));
    }
    return most;
}

} // namespace tessera::exchange_plan
