// SPDX-License-Identifier: MIT
#include "models/tile/alarm.h"

#include "base/error.h"
#include "models/ports/clock.h"

#include <algorithm>
#include <utility>

namespace tessera::tile {

using ports::Clock;

Alarm::Alarm(const sc_core::sc_module_name& name) : sc_module(name), tiles("tiles") {
    SC_HAS_PROCESS(Alarm);
    SC_METHOD(on_asked);
    sensitive << ev_asked_;
    dont_initialize();
    SC_METHOD(on_due);
    sensitive << ev_due_;
    dont_initialize();
}

void Alarm::wake_at(TileId tile, Cycles cycle) {
    if (asked_.empty()) {
        ev_asked_.notify(sc_core::SC_ZERO_TIME);
    }
    asked_.push_back(static_cast<std::uint64_t>(cycle) << kTileBits | tile);
}

void Alarm::on_asked() {
    due_.erase(due_.begin(), due_.begin() + static_cast<std::ptrdiff_t>(next_));
    next_ = 0;
    const auto kept = static_cast<std::ptrdiff_t>(due_.size());
    due_.insert(due_.end(), asked_.begin(), asked_.end());
    asked_.clear();
    std::sort(due_.begin() + kept, due_.end());
    std::inplace_merge(due_.begin(), due_.begin() + kept, due_.end());
    ev_due_.cancel();
    ev_due_.notify(Clock::until(static_cast<Cycles>(due_.front() >> kTileBits)));
}

void Alarm::on_due() {
    const std::uint64_t cycle = due_[next_] >> kTileBits;
    TESSERA_ASSERT(static_cast<Cycles>(cycle) == Clock::now());
    now_.clear();
    while (next_ < due_.size() && due_[next_] >> kTileBits == cycle) {
        now_.push_back(static_cast<TileId>(due_[next_++] & ((1U << kTileBits) - 1)));
    }
    if (shuffle_) {
        for (std::size_t left = now_.size(); left > 1; --left) {
            // A linear congruential step; which one does not matter.
            *shuffle_ = *shuffle_ * 6364136223846793005U + 1442695040888963407U;
            std::swap(now_[left - 1], now_[(*shuffle_ >> 33U) % left]);
        }
    }
    for (const TileId tile : now_) {
        tiles[static_cast<int>(tile)]->wake();
    }
    if (next_ < due_.size() && asked_.empty()) {
        ev_due_.notify(Clock::until(static_cast<Cycles>(due_[next_] >> kTileBits)));
    }
}

} // namespace tessera::tile
