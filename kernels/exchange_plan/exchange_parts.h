// SPDX-License-Identifier: MIT
// Multicasts taken apart: where a lane has time to send words more than once, they may go to some
// of the receivers first and to others later.
#pragma once

#include "kernels/exchange_plan/exchange_jobs.h"
#include "kernels/exchange_plan/exchange_orders.h"
#include "kernels/exchange_plan/exchange_schedule.h"
#include "models/timing/exchange_bound.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tessera::exchange_plan {

struct Parts {
    JobList list;
    JobOrder order;                    ///< that they are to be placed in
    std::vector<std::uint32_t> of_job; ///< by job of `list`: the one that it is of
    std::size_t late = 0;              ///< so many at the end are to be placed behind all others
};

/// The same messages with their receivers divided as often as every lane has room for within the
/// bound; nothing where that is less than twice. Pairs of tiles stay together. Several tiles of a
/// group then send at once, each to another part of it, where whole multicasts would go one after
/// another and every receiver would wait for the farthest. They go in rounds.
[[nodiscard]] std::optional<Parts> divide_receivers(const JobList& list,
                                                    const timing::TileGrid& grid,
                                                    const timing::ExchangeBound& bound);

/// The same messages, those to several receivers begun earlier. No mux turns before event 1, and
/// the nearer a receiver the longer before the word its mux must turn, so that a multicast waits
/// for its nearest receivers. Its first words may go to the far ones alone meanwhile, and to the
/// near ones at the end, when the far ones are still being reached:
///
///     all at once:    ...........[to all           ]
///     far ones first: [far only ][to all ][near only]
///
/// `order` is one of `list`. Nothing where no message gains by it, or where one is wide.
[[nodiscard]] std::optional<Parts> far_first(const JobList& list, const JobOrder& order,
                                             const timing::ExchangeTiming& timing);

/// The same messages, those that were put `aside` in placing them sent to each receiver by itself, behind all others.
/// A multicast waits until all its receivers are free at once, and leaves gaps: what comes late fills them, one receiver
/// at a time. Jobs of `list` keep their numbers.
[[nodiscard]] Parts late_alone(const JobList& list, const JobOrder& order,
                               std::span<const Aside> aside);

/// The same parts of the same messages elsewhere: parts of `whole` become parts of `elsewhere`, which
/// differs from it in addresses alone.
[[nodiscard]] JobList moved(const Parts& parts, const JobList& whole, const JobList& elsewhere);

} // namespace tessera::exchange_plan
