// SPDX-License-Identifier: MIT
// How wide a line of the program's output may be, and whether the output has colors.
#pragma once

#include "base/layout.h"
#include "sim/cli/cli.h"

#include <cstdio>

namespace tessera::process {

/// Sets for the whole process when output has colors. Until it is called, output has colors if it
/// goes to a terminal, NO_COLOR is not set and TERM is not "dumb".
void choose_color(cli::ColorChoice choice);

/// Returns the layout of text for `stream`. On a terminal, lines are as wide as the terminal, but
/// at least 80 and at most 160 columns. Otherwise they are 100 columns wide whatever the
/// environment, so that equal commands write equal files.
[[nodiscard]] Layout layout_of(std::FILE* stream);

} // namespace tessera::process
