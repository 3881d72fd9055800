// SPDX-License-Identifier: MIT
// Multicasts taken apart: where lanes have time to send a message more than once, it may go to some
// of its receivers first and to others later. Then several tiles of a group send at once, each to
// another part of it, where whole multicasts would go one after another and every receiver would
// wait for the farthest.
#pragma once

#include "kernels/plan/exchange_jobs.h"
#include "kernels/plan/exchange_orders.h"
#include "models/timing/exchange_bound.h"

#include <optional>

namespace tessera::plan {

struct Parts {
    JobList list;
    JobOrder order; ///< in rounds: in each, the senders of a group send to different parts of it
};

/// The same messages with their receivers divided as often as every lane has room for within the
/// bound; nothing where that is less than twice. Pairs of tiles stay together.
[[nodiscard]] std::optional<Parts> divide_receivers(const JobList& list,
                                                    const timing::TileGrid& grid,
                                                    const timing::ExchangeBound& bound);

} // namespace tessera::plan
