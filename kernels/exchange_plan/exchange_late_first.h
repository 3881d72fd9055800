// SPDX-License-Identifier: MIT
// Orders that learn from what the one before came to.
#pragma once

#include "kernels/exchange_plan/exchange_orders.h"
#include "kernels/exchange_plan/exchange_schedule.h"

#include <cstdint>
#include <vector>

namespace tessera::exchange_plan {

/// The messages of tiles that are busy for long go forward in the order, again and again: squeaky wheel optimisation
/// (Joslin and Clements, "Squeaky Wheel" Optimization, JAIR 10, 1999).
class LateFirst {
public:
    /// `list` outlives this.
    LateFirst(const JobList& list, const JobOrder& first, std::size_t tiles);

    /// The order to try after the one before (at first: that given) came to `schedule`.
    [[nodiscard]] JobOrder next(const Schedule& schedule);

private:
    const JobList& list_;
    /// For each message: its place in the first order, less the places that it was moved forward.
    std::vector<std::int64_t> places_;
    std::vector<Cycles> sent_;  ///< by tile: end of its last message
    std::vector<Cycles> taken_; ///< likewise, of those that it receives
};

} // namespace tessera::exchange_plan
