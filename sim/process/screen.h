// SPDX-License-Identifier: MIT
// What the program's output goes to: how wide a line may be, and whether it has colors.
#pragma once

#include "base/layout.h"
#include "sim/cli/cli.h"

#include <cstdio>

namespace tessera::process {

/// From now on, for the whole process. Without it colors are where a terminal is, NO_COLOR is not
/// set and TERM is not "dumb".
void choose_color(cli::ColorChoice choice);

/// The terminal's columns, at least 80 and at most 160; elsewhere 100, whatever the environment, so
/// that equal commands write equal files.
[[nodiscard]] Layout layout_of(std::FILE* stream);

} // namespace tessera::process
