// SPDX-License-Identifier: MIT
// What can be known of a sweep before its first point: for `tessera check` and for all that run one.
#pragma once

#include "base/config/paths.h"
#include "sim/sweep/source.h"

#include <string>
#include <vector>

namespace tessera::sweep {

/// Machines, workloads, parameters and paths of results that a sweep names are there.
/// @throws ConfigError with all mistakes, at their places in the sweep
void check_names(const Source& source, const config::ConfigPaths& paths);

/// The workloads that have no closed forms: "'mlp' (pipeline)". @throws ConfigError, IoError
[[nodiscard]] std::vector<std::string> without_estimate(const SweepSpec& sweep,
                                                        const config::ConfigPaths& paths);

/// All mistakes of a sweep's file, as `tessera sweep run` would tell them; what else there is to
/// know of it, a sentence each. @throws ConfigError, IoError, NotModelled
[[nodiscard]] std::vector<std::string> check_sweep(const Source& source,
                                                   const config::ConfigPaths& paths);

/// Of the estimates that a sweep needs, for its mode or to choose points by: those of workloads that
/// have none. @throws NotModelled where nothing would come of it
[[nodiscard]] std::vector<std::string> check_estimates(const SweepSpec& sweep, bool screens,
                                                       const config::ConfigPaths& paths);

} // namespace tessera::sweep
