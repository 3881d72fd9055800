// SPDX-License-Identifier: MIT
// The commands `tessera pattern sparsify` and `finalize`: all tensors of a .safetensors file, one
// after the other. Each returns the text for stdout.
#pragma once

#include "base/layout.h"
#include "sim/cli/cli.h"

#include <string>

namespace tessera::pattern {

/// @throws cli::UsageError, ConfigError, IoError; so does the other
[[nodiscard]] std::string sparsify_text(const cli::PatternSparsifyCommand& command,
                                        const Layout& layout);
[[nodiscard]] std::string finalize_text(const cli::PatternFinalizeCommand& command);

} // namespace tessera::pattern
