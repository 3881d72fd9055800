// SPDX-License-Identifier: MIT
// `tessera sweep ...`: the points of a sweep into a store, and what a store holds.
#pragma once

#include "sim/cli/cli.h"
#include "sim/run/batch.h"

namespace tessera::sweep {

/// All points that the store does not have. Exit code 0, or 1 where an answer was wrong; points that
/// cannot run are results. @throws ConfigError, IoError
int sweep_run(const cli::SweepRunCommand& command, const run::Elaborate& elaborate);

/// Points from stdin, a line each. Exit code 0. @throws ConfigError, IoError
int sweep_answer(const cli::SweepRunCommand& command, const run::Elaborate& elaborate);

/// @throws ConfigError, IoError
int sweep_show(const cli::SweepShowCommand& command);

/// @throws ConfigError, IoError; UsageError where the store has run no sweep
int sweep_status(const cli::SweepStatusCommand& command);

/// @throws IoError
int sweep_collect(const cli::SweepCollectCommand& command);

/// Exit code 1 where points differ. @throws IoError
int sweep_diff(const cli::SweepDiffCommand& command);

/// @throws ConfigError, IoError; UsageError where the scheduler is not there
int sweep_submit(const cli::SweepSubmitCommand& command);

} // namespace tessera::sweep
