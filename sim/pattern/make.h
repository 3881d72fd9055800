// SPDX-License-Identifier: MIT
// From the words of `tessera pattern make` to a pattern.
#pragma once

#include "kernels/workload/coordinate_matrix.h"
#include "sim/cli/cli.h"

namespace tessera::pattern {

/// A mask that the generator makes. @throws cli::UsageError where the size is none; ConfigError with
/// all mistakes of the keys
[[nodiscard]] workload::CoordinateMatrix generated(const cli::PatternMakeCommand& command);

} // namespace tessera::pattern
