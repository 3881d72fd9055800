// SPDX-License-Identifier: MIT
// What all tiles together have done of each step since the last release.
#pragma once

#include "base/error.h"
#include "models/events/events.h"

#include <algorithm>
#include <vector>

namespace tessera::listeners {

/// One execution of a compute set, exchange or stream copy; or `times` equal ones with all their cycles
/// and work.
struct Execution {
    events::Doing doing = events::Doing::Control; ///< Control: no tile had a part in it
    std::uint32_t index = 0;
    std::int64_t tiles = 0;  ///< that have done it
    TileId slowest_tile = 0; ///< the lowest number of equals
    Cycles slowest_cycles = 0;
    Cycles tile_cycles = 0; ///< of all tiles
    Cycles lane_cycles = 0; ///< of all tiles, of each its fuller lane
    std::int64_t times = 0;
    events::Work work; ///< of all tiles; the bound is that of the busiest, no launch is named
};

class Executions {
public:
    void take(TileId tile, const events::Span& span) {
        using events::Doing;
        if (span.doing != Doing::ComputeSet && span.doing != Doing::Exchange &&
            span.doing != Doing::Stream && span.doing != Doing::Link) {
            return;
        }
        const std::size_t place = place_of(span.step);
        if (place == all_.size() || steps_[place] != span.step) {
            steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(place), span.step);
            all_.insert(all_.begin() + static_cast<std::ptrdiff_t>(place), Execution{});
        }
        add(all_[place], tile, span);
    }
    /// The execution of a step that some tile has reported.
    [[nodiscard]] const Execution& of(std::int64_t step) const {
        const std::size_t place = place_of(step);
        TESSERA_ASSERT(place < all_.size() && steps_[place] == step);
        return all_[place];
    }
    /// In the order of the steps.
    [[nodiscard]] const std::vector<Execution>& all() const { return all_; }
    void released(const events::Release& /*release*/) {
        all_.clear();
        steps_.clear();
        last_ = 0;
    }

private:
    /// The index of a step, or where it would be. A tile reports its steps in order.
    [[nodiscard]] std::size_t place_of(std::int64_t step) const {
        for (const std::size_t near : {last_, last_ + 1}) {
            if (near < steps_.size() && steps_[near] == step) {
                last_ = near;
                return near;
            }
        }
        const auto place = std::lower_bound(steps_.begin(), steps_.end(), step);
        last_ = static_cast<std::size_t>(place - steps_.begin());
        return last_;
    }
    static void add(Execution& all, TileId tile, const events::Span& span) {
        if (all.tiles == 0 || span.cycles() > all.slowest_cycles ||
            (span.cycles() == all.slowest_cycles && tile < all.slowest_tile)) {
            all.slowest_tile = tile;
            all.slowest_cycles = span.cycles();
        }
        all.doing = span.doing;
        all.index = span.index;
        all.times = span.times;
        all.tiles += 1;
        all.tile_cycles += span.cycles();
        all.lane_cycles += span.lanes.fuller();
        if (span.doing == events::Doing::ComputeSet) { // of others there is no work
            const Cycles bound = std::max(all.work.bound_cycles, span.work.bound_cycles);
            all.work.add(span.work);
            all.work.bound_cycles = bound;
        }
    }

    std::vector<Execution> all_;
    std::vector<std::int64_t> steps_; ///< of all_, ascending
    mutable std::size_t last_ = 0;    ///< where the step stands that was asked for last
};

} // namespace tessera::listeners
