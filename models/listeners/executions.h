// SPDX-License-Identifier: MIT
// What all tiles together have done of each step since the last release.
#pragma once

#include "base/error.h"
#include "models/events/events.h"

#include <algorithm>
#include <vector>

namespace tessera::listeners {

/// One execution of a compute set, exchange or stream copy.
struct Execution {
    events::Doing doing = events::Doing::Control; ///< Control: no tile had a part in it
    std::uint32_t index = 0;
    std::int64_t tiles = 0;  ///< that have done it
    TileId slowest_tile = 0; ///< the lowest number of equals
    Cycles slowest_cycles = 0;
    Cycles tile_cycles = 0; ///< of all tiles
    Cycles lane_cycles = 0; ///< of all tiles, of each its fuller lane
    events::Work work;      ///< of all tiles; the bound is that of the busiest, no launch is named
};

class Executions {
public:
    void take(TileId tile, const events::Span& span) {
        using events::Doing;
        if (span.doing != Doing::ComputeSet && span.doing != Doing::Exchange &&
            span.doing != Doing::Stream) {
            return;
        }
        TESSERA_ASSERT(span.step >= first_step_);
        const auto place = static_cast<std::size_t>(span.step - first_step_);
        if (place >= all_.size()) {
            all_.resize(place + 1);
        }
        add(all_[place], tile, span);
    }
    /// Of a step of which a tile has told.
    [[nodiscard]] const Execution& of(std::int64_t step) const {
        return all_[static_cast<std::size_t>(step - first_step_)];
    }
    [[nodiscard]] const std::vector<Execution>& all() const { return all_; }
    void released(const events::Release& release) {
        all_.clear();
        first_step_ = release.steps_done;
    }

private:
    static void add(Execution& all, TileId tile, const events::Span& span) {
        if (all.tiles == 0 || span.cycles() > all.slowest_cycles ||
            (span.cycles() == all.slowest_cycles && tile < all.slowest_tile)) {
            all.slowest_tile = tile;
            all.slowest_cycles = span.cycles();
        }
        all.doing = span.doing;
        all.index = span.index;
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
    std::int64_t first_step_ = 0; ///< of all_
};

} // namespace tessera::listeners
