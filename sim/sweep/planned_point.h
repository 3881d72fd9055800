// SPDX-License-Identifier: MIT
// A point of a sweep as the run that it is: machine, workload and every value that it changes,
// those that follow from others too.
#pragma once

#include "base/config/paths.h"
#include "sim/sweep/point_key.h"
#include "sim/sweep/sweep_file.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera::sweep {

struct PlannedPoint {
    std::string machine;
    std::string workload;
    Changes changes; ///< from the machine and the workload as they are; what follows comes last
    std::string key; ///< empty where it cannot run
    bool is_excluded = false;
    std::vector<Diagnostic> mistakes; ///< why it cannot run: values that no machine may have
};

/// `path=value`, as --set has it.
[[nodiscard]] std::vector<std::string> sets_of(const Changes& changes);

/// All points: those of the axes, then the sweep's own. Points that are the same come once.
/// @throws ConfigError where an axis, a value for all or what follows is never right, whatever else
/// a point changes: a path that nothing has, for example
[[nodiscard]] std::vector<PlannedPoint> plan_points(const SweepSpec& sweep,
                                                    const config::Document& document,
                                                    const config::ConfigPaths& paths,
                                                    PointKeys& keys);

} // namespace tessera::sweep
