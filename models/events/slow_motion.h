// SPDX-License-Identifier: MIT
// Several rounds of a repeat that do the same, told as one: what the round did, so many times, so much
// slower. Sums, orders and the gaplessness of spans are those of the rounds one after the other.
//
//     rounds   |a|bb|a|bb|a|bb|
//     told     |aaa|bbbbbb|
#pragma once

#include "base/units.h"
#include "models/events/events.h"

#include <cstdint>

namespace tessera::events {

/// A round that began at `from`, told as `times` rounds that begin at `to`.
struct SlowMotion {
    Cycles from = 0;
    Cycles to = 0;
    std::int64_t times = 1;
    std::int64_t steps = 0; ///< by which the first of them comes later than the round

    [[nodiscard]] Cycles at(Cycles cycle) const { return to + (cycle - from) * times; }

    [[nodiscard]] Span of(Span span) const {
        span.begin = at(span.begin);
        span.end = at(span.end);
        span.step += steps;
        span.times *= times;
        span.work.counts.take_part(times, 1);
        for (Cycles* const done :
             {&span.work.bound_cycles, &span.work.busiest_worker_cycles,
              &span.work.mean_worker_cycles, &span.lanes.in, &span.lanes.out}) {
            *done *= times;
        }
        for (std::int64_t& issues : span.work.issues_of) {
            issues *= times;
        }
        return span;
    }
    [[nodiscard]] ContextSpan of(ContextSpan span) const {
        span.begin = at(span.begin);
        span.end = at(span.end);
        return span;
    }
    /// All but the path.
    [[nodiscard]] Release of(Release release) const {
        release.last_arrival = at(release.last_arrival);
        release.cycle = at(release.cycle);
        release.steps_done += steps;
        release.times *= times;
        return release;
    }
    [[nodiscard]] Moved of(Moved moved) const {
        moved.begin = at(moved.begin);
        moved.end = at(moved.end);
        moved.step += steps;
        moved.times *= times;
        moved.bytes *= times;
        moved.sent_bytes *= times;
        moved.bound_cycles *= times;
        return moved;
    }
    [[nodiscard]] Flight of(Flight flight) const {
        for (Cycles* const cycle :
             {&flight.begin, &flight.service_begin, &flight.service_end, &flight.end}) {
            *cycle = at(*cycle);
        }
        flight.step += steps;
        flight.times *= times;
        flight.bytes *= times;
        flight.sent_bytes *= times;
        return flight;
    }
};

} // namespace tessera::events
