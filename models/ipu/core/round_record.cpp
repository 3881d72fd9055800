// SPDX-License-Identifier: MIT
#include "models/ipu/core/round_record.h"

#include <algorithm>
#include <utility>

namespace tessera::ipu {

using events::Listener;

void RoundRecord::segment(const events::Segment& segment) {
    HeldSegment& held = std::get<HeldSegment>(events_.emplace_back(HeldSegment{}));
    held.segment = segment;
    held.spans.assign(segment.spans.begin(), segment.spans.end());
    held.contexts.assign(segment.contexts.begin(), segment.contexts.end());
    size_ += segment.spans.size();
}

void RoundRecord::released(const events::Release& release) {
    HeldRelease& held = std::get<HeldRelease>(events_.emplace_back(HeldRelease{}));
    held.release = release;
    held.path.assign(release.path.begin(), release.path.end());
    size_ += release.path.size();
}

void RoundRecord::moved(const events::Moved& moved) {
    events_.emplace_back(moved);
}

void RoundRecord::copy_begun(const events::Flight& flight) {
    events_.emplace_back(Begun{flight});
}

void RoundRecord::copy_ended(const events::Flight& flight) {
    events_.emplace_back(Ended{flight});
}

std::vector<std::uint32_t> RoundRecord::ended() const {
    std::vector<std::uint32_t> copies;
    for (const auto& event : events_) {
        if (const auto* const ended = std::get_if<Ended>(&event)) {
            copies.push_back(ended->flight.copy);
        }
    }
    return copies;
}

void RoundRecord::tell(const events::SlowMotion& motion,
                       const std::function<void(const std::function<void(Listener&)>&)>& to) const {
    const auto tell_one = [&](const auto& event) {
        using Event = std::decay_t<decltype(event)>;
        if constexpr (std::is_same_v<Event, HeldSegment>) {
            HeldSegment slow = event;
            std::ranges::transform(slow.spans, slow.spans.begin(),
                                   [&](const events::Span& span) { return motion.of(span); });
            std::ranges::transform(
                slow.contexts, slow.contexts.begin(),
                [&](const events::ContextSpan& span) { return motion.of(span); });
            slow.segment.begin = motion.at(event.segment.begin);
            slow.segment.end = motion.at(event.segment.end);
            slow.segment.spans = slow.spans;
            slow.segment.contexts = slow.contexts;
            to([&](Listener& listener) { listener.segment(slow.segment); });
        } else if constexpr (std::is_same_v<Event, HeldRelease>) {
            HeldRelease slow = event;
            for (events::PathSpan& part : slow.path) {
                part.span = motion.of(part.span);
            }
            slow.release = motion.of(event.release);
            slow.release.path = slow.path;
            if (&event == std::get_if<HeldRelease>(&events_.back())) {
                slow.release.steps_done += (motion.times - 1) * motion.steps;
            }
            to([&](Listener& listener) { listener.released(slow.release); });
        } else if constexpr (std::is_same_v<Event, events::Moved>) {
            const events::Moved slow = motion.of(event);
            to([&](Listener& listener) { listener.moved(slow); });
        } else {
            const events::Flight slow = motion.of(event.flight);
            to([&](Listener& listener) {
                if constexpr (std::is_same_v<Event, Begun>) {
                    listener.copy_begun(slow);
                } else {
                    listener.copy_ended(slow);
                }
            });
        }
    };
    for (const auto& event : events_) {
        std::visit(tell_one, event);
    }
}

} // namespace tessera::ipu
