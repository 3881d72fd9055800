// SPDX-License-Identifier: MIT
// `tessera plot`: a chart as a picture, for papers and scripts.
#pragma once

#include "sim/cli/cli.h"

namespace tessera::plot {

/// @throws UsageError, IoError
int plot_command(const cli::PlotCommand& command);

} // namespace tessera::plot
