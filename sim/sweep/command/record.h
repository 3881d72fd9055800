// SPDX-License-Identifier: MIT
// What a point comes to: its line of the store.
#pragma once

#include "sim/cli/cli.h"
#include "sim/process/child.h"
#include "sim/sweep/planner.h"

#include <nlohmann/json.hpp>

#include <string>

namespace tessera::sweep {

/// The run that a point is.
[[nodiscard]] cli::RunCommand run_of(const PlannedPoint& point, const std::string& mode,
                                     int threads);

/// The word of the store for how a child ended.
[[nodiscard]] std::string status_of(const process::ChildOutcome& outcome);

/// Writes what the sweep calls a point into its line; the rest of it is of the point's content.
void name_line(const PlannedPoint& point, nlohmann::json& record);

/// The line of the store. `keep_lists`: what a result says of single steps too.
[[nodiscard]] nlohmann::json record_of(const PlannedPoint& point, const std::string& mode,
                                       const process::ChildOutcome& outcome, bool keep_lists);

} // namespace tessera::sweep
