// SPDX-License-Identifier: MIT
// How a sweep's points stand to each other: which closed forms call best.
#pragma once

#include "sim/sweep/condition.h"
#include "sim/sweep/planner.h"
#include "sim/sweep/sweep_file.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace tessera::sweep {

/// The sweep's objectives; the fewest cycles where it has none.
[[nodiscard]] std::vector<Objective> objectives_of(const SweepSpec& sweep);

/// Numbers of the best `percent` of a plan's points, whose results the store has, in their order: by
/// the sum of their ranks in each objective, all workloads of a machine together. What broke a
/// constraint or has no result is not among them.
[[nodiscard]] std::vector<std::int64_t> best_points(const std::filesystem::path& store,
                                                    const SweepSpec& sweep,
                                                    std::vector<Condition>& constraints,
                                                    const Plan& plan, double percent);

} // namespace tessera::sweep
