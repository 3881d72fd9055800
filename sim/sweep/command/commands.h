// SPDX-License-Identifier: MIT
// `tessera sweep ...`: the points of a sweep into a store, and what a store holds.
#pragma once

#include "sim/cli/cli.h"
#include "sim/run/batch.h"

namespace tessera::sim {

/// All points that the store does not have. Exit code 0, or 1 where an answer was wrong; points that
/// cannot run are results. @throws ConfigError, IoError
int sweep_run(const SweepRunCommand& command, const Elaborate& elaborate);

/// Points from stdin, a line each. Exit code 0. @throws ConfigError, IoError
int sweep_answer(const SweepRunCommand& command, const Elaborate& elaborate);

/// @throws ConfigError, IoError
int sweep_show(const SweepShowCommand& command);

/// @throws IoError
int sweep_collect(const SweepCollectCommand& command);

/// Exit code 1 where points differ. @throws IoError
int sweep_diff(const SweepDiffCommand& command);

/// @throws ConfigError, IoError; UsageError where the scheduler is not there
int sweep_submit(const SweepSubmitCommand& command);

} // namespace tessera::sim
