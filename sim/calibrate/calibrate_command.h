// SPDX-License-Identifier: MIT
// `tessera calibrate`: measured rows beside simulated ones.
#pragma once

#include "sim/cli/cli.h"
#include "sim/run/batch.h"

namespace tessera::calibrate {

/// Does what `tessera calibrate` does, with its output on stdout and stderr. Returns the exit code:
/// 0, or with --check 1 if a group misses its target or no row was judged by one. @throws
/// ConfigError, IoError
int calibrate_command(const cli::CalibrateCommand& command, const run::Elaborate& elaborate);

} // namespace tessera::calibrate
