// SPDX-License-Identifier: MIT
#include "kernels/exchange_plan/exchange_late_first.h"

#include <algorithm>

namespace tessera::exchange_plan {

LateFirst::LateFirst(const JobList& list, const JobOrder& first, std::size_t tiles)
    : list_(list), places_(list.jobs.size()), sent_(tiles), taken_(tiles) {
    for (std::size_t place = 0; place < first.size(); ++place)
        places_[first[place]] = static_cast<std::int64_t>(place);
}

/// A message whose sender or a receiver is busy to the end of the exchange passes all others; one whose tiles are done
/// at half of it passes none.
JobOrder LateFirst::next(const Schedule& schedule) {
    std::ranges::fill(sent_, 0);
    std::ranges::fill(taken_, 0);
    Cycles last = 1;
    for (const auto& placed : schedule.placements) {
        const auto& job = list_.jobs[placed.job];
        const auto end = placed.end(list_.lane);
        sent_[job.source] = std::max(sent_[job.source], end);
        for (const auto& to : list_.of(job)) {
            taken_[to.tile] = std::max(taken_[to.tile], end + to.offset(placed.wide));
            last = std::max(last, taken_[to.tile]);
        }
    }
    const auto messages = static_cast<std::int64_t>(list_.jobs.size());
    for (std::size_t index = 0; index < list_.jobs.size(); ++index) {
        const auto& job = list_.jobs[index];
        auto end = sent_[job.source];
        for (const auto& to : list_.of(job))
            end = std::max(end, taken_[to.tile]);
        places_[index] -= messages * std::max<Cycles>(2 * end - last, 0) / last;
    }
    auto order = given_order(list_);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t job) { return places_[job]; });
    return order;
}

} // namespace tessera::exchange_plan
