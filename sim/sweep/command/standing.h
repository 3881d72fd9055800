// SPDX-License-Identifier: MIT
// How a sweep's points stand to each other: which closed forms call best.
#pragma once

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

/// Gives a table the parameters among `paths` that its points leave as they are, from what was frozen
/// in the store.
void fill_parameters(PointTable& table, const std::vector<std::string>& paths,
                     const std::filesystem::path& store, const config::ConfigPaths& configs);

struct BestPoints {
    std::vector<std::int64_t> numbers; ///< in their order
    Reasons left_out;                  ///< why others could not be among them
};

/// The points of the best `percent` of a sweep's candidates: by the sum of
/// their ranks in each objective. What broke a constraint or has no result in the store is not among
/// them.
[[nodiscard]] BestPoints best_points(const std::filesystem::path& store, const SweepSpec& sweep,
                                     std::vector<Condition>& constraints, Planner& planner,
                                     const config::ConfigPaths& configs, double percent);

} // namespace tessera::sweep
