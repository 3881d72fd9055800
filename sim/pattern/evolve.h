// SPDX-License-Identifier: MIT
// The command `tessera pattern evolve`: sequences of patterns, made from the tensors of a checkpoint
// by a schedule.
#pragma once

#include "base/layout.h"
#include "sim/cli/cli.h"

#include <string>

namespace tessera::pattern {

/// Returns the text for stdout. @throws cli::UsageError, ConfigError, IoError
[[nodiscard]] std::string evolve_text(const cli::PatternEvolveCommand& command,
                                      const Layout& layout);

} // namespace tessera::pattern
