// SPDX-License-Identifier: MIT
// Compares the points of a sweep: which ones are best by the estimates in its store.
#pragma once

#include "sim/sweep/command/reckoned.h"
#include "sim/sweep/condition.h"
#include "sim/sweep/planner.h"
#include "sim/sweep/reasons.h"
#include "sim/sweep/sweep_file.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace tessera::sweep {

/// The sweep's objectives; the fewest cycles where it has none.
[[nodiscard]] std::vector<Objective> objectives_of(const SweepSpec& sweep);

struct BestPoints {
    std::vector<std::int64_t> numbers; ///< in their order
    Reasons left_out;                  ///< why others could not be among them
};

/// The best `percent` of a sweep's points, ordered by the sum of their ranks in each objective.
/// Points that break a constraint or have no result in the store are left out; `left_out` says
/// why.
[[nodiscard]] BestPoints best_points(const std::filesystem::path& store, const SweepSpec& sweep,
                                     std::vector<Condition>& constraints,
                                     std::vector<MetricColumn>& metrics, Planner& planner,
                                     const config::ConfigPaths& configs, double percent);

} // namespace tessera::sweep
