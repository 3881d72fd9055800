// SPDX-License-Identifier: MIT
// The commands `tessera pattern sparsify` and `finalize`: all tensors of a .safetensors file, one
// after the other. Each returns the text for stdout.
#pragma once

#include "base/layout.h"
#include "sim/cli/cli.h"

#include <string>

namespace tessera::pattern {

/// The file of a checkpoint's name. @throws cli::UsageError where it is none
[[nodiscard]] const std::string& checkpoint_of(const std::string& command, const std::string& name);

/// @throws cli::UsageError, ConfigError, IoError; so does the other
[[nodiscard]] std::string sparsify_text(const cli::PatternSparsifyCommand& command,
                                        const Layout& layout);
[[nodiscard]] std::string finalize_text(const cli::PatternFinalizeCommand& command);

} // namespace tessera::pattern
