// SPDX-License-Identifier: MIT
// The future of a packet network: events by cycle, in a ring of cycles. Adding and taking one are
// O(1) and allocate nothing once the lists of the ring have grown.
#pragma once

#include "base/units.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::link {

/// Something happens to one part of a network; `part` is a number in the list of its kind.
struct WheelEvent {
    std::uint8_t kind = 0;
    std::int32_t part = 0;
};

class EventWheel {
public:
    /// No event is `horizon` cycles or more after the cycle in which it is added.
    explicit EventWheel(Cycles horizon)
        : lists_(std::bit_ceil(static_cast<std::uint64_t>(horizon < 64 ? 64 : horizon))),
          used_(lists_.size() / 64), mask_(lists_.size() - 1) {}

    /// `cycle` is in [now, now + horizon), where `now` is the one that next() gets.
    void add(Cycles cycle, WheelEvent event) {
        const auto slot = static_cast<std::uint64_t>(cycle) & mask_;
        lists_[slot].push_back(event);
        used_[slot / 64] |= std::uint64_t{1} << (slot % 64);
        ++events_;
    }

    /// The first cycle from `now` on that has events.
    [[nodiscard]] std::optional<Cycles> next(Cycles now) const {
        if (events_ == 0) {
            return std::nullopt;
        }
        const auto first = static_cast<std::uint64_t>(now) & mask_;
        std::size_t word = first / 64;
        std::uint64_t bits = used_[word] & (~std::uint64_t{0} << (first % 64));
        while (bits == 0) { // comes round to the bits before `first`, if there are no others
            word = (word + 1) & (used_.size() - 1);
            bits = used_[word];
        }
        const auto slot = 64 * word + static_cast<std::uint64_t>(std::countr_zero(bits));
        return now + static_cast<Cycles>((slot - first) & mask_);
    }

    /// Replaces `events` by those of `cycle`, in the order in which they were added.
    void take(Cycles cycle, std::vector<WheelEvent>& events) {
        const auto slot = static_cast<std::uint64_t>(cycle) & mask_;
        events.clear();
        events.swap(lists_[slot]);
        used_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
        events_ -= events.size();
    }

private:
    std::vector<std::vector<WheelEvent>> lists_; ///< by cycle modulo their number
    std::vector<std::uint64_t> used_;            ///< a bit a list: whether it has events
    std::uint64_t mask_;
    std::size_t events_ = 0;
};

} // namespace tessera::link
