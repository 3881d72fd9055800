// SPDX-License-Identifier: MIT
// `tessera sweep`: all points of a sweep file into a store, those that are there already not again;
// and what a store holds.
#pragma once

#include "sim/batch.h"
#include "sim/cli.h"

namespace tessera::sim {

/// Its exit code: 0, or 1 where a result was wrong. Points that cannot run are results.
/// @throws ConfigError, IoError
int sweep_command(const SweepCommand& command, const Elaborate& elaborate);

} // namespace tessera::sim
