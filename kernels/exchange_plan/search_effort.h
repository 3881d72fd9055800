// SPDX-License-Identifier: MIT
// How far the planner of an exchange searches for a short one.
#pragma once

#include "kernels/exchange_plan/exchange_planner.h"

#include <cstddef>

namespace tessera::exchange_plan {

struct SearchEffort {
    /// Receivers that one exchange may place in all its attempts, after the first: about a quarter
    /// of a second.
    std::size_t attempts = 500'000;
    /// Likewise in the attempts after these, which put late tiles first; and the most attempts of
    /// this kind.
    std::size_t late_first = 1'000'000;
    std::size_t most_late_first = 12;
    /// Where an attempt places so many, such attempts end early if the first ones come to the same.
    std::size_t settled_from = 20'000;
    /// Messages that the search for an order may look at: a tenth of a second.
    std::size_t looks = 30'000'000;
};

/// As exchange_planner.h says, with another effort.
[[nodiscard]] PlannedExchange plan_exchange_with_stats(const spec::MachineSpec& machine,
                                                       std::string name,
                                                       std::vector<program::Transfer> transfers,
                                                       KnownSchedules* known,
                                                       const SearchEffort& effort);

} // namespace tessera::exchange_plan
