// SPDX-License-Identifier: MIT
// The command `tessera pattern encode`: a sparse matrix in the buckets of a workload's product.
#pragma once

#include "base/layout.h"
#include "sim/cli/cli.h"

#include <string>

namespace tessera::pattern {

/// Returns the text for stdout. @throws cli::UsageError, ConfigError, IoError, DoesNotFit
[[nodiscard]] std::string encode_text(const cli::PatternEncodeCommand& command,
                                      const Layout& layout);

} // namespace tessera::pattern
