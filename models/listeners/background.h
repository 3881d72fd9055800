// SPDX-License-Identifier: MIT
// Which tiles have stream copies under way in the background, and when: what a tile would idle
// meanwhile, it streams.
#pragma once

#include "base/units.h"
#include "models/events/events.h"

#include <algorithm>
#include <vector>

namespace tessera::listeners {

class Background {
public:
    explicit Background(std::int64_t tiles) : busy_(static_cast<std::size_t>(tiles)) {}

    void begun(const events::Flight& flight) {
        if (!flight.background) {
            return;
        }
        for (const TileId tile : flight.tiles) {
            // Copies of a tile begin in order of time.
            auto& spans = busy_[tile];
            if (!spans.empty() && spans.back().end >= flight.begin) {
                spans.back().end = std::max(spans.back().end, flight.end);
            } else {
                spans.push_back({flight.begin, flight.end});
            }
            any_ = true;
        }
    }

    /// Calls `part(begin, end, streams)` for parts of [begin, end) of `tile` in order; of one tile
    /// `begin` never goes back.
    template <class Part> void split(TileId tile, Cycles begin, Cycles end, const Part& part) {
        if (!any_ || busy_[tile].empty()) {
            tell(begin, end, false, part);
            return;
        }
        auto& spans = busy_[tile];
        spans.erase(spans.begin(), std::find_if(spans.begin(), spans.end(),
                                                [&](const auto& one) { return one.end > begin; }));
        for (const auto& busy : spans) {
            const Cycles from = std::clamp(busy.begin, begin, end);
            const Cycles to = std::clamp(busy.end, from, end);
            tell(begin, from, false, part);
            tell(from, to, true, part);
            begin = to;
        }
        tell(begin, end, false, part);
    }

private:
    struct Busy {
        Cycles begin = 0;
        Cycles end = 0;
    };
    template <class Part>
    static void tell(Cycles begin, Cycles end, bool streams, const Part& part) {
        if (begin < end) {
            part(begin, end, streams);
        }
    }

    std::vector<std::vector<Busy>> busy_; ///< by tile, ascending
    bool any_ = false;
};

} // namespace tessera::listeners
