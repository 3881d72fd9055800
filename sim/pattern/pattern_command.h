// SPDX-License-Identifier: MIT
// The commands of `tessera pattern`: sparse matrices in files, made, looked at and converted. Each
// returns the text for stdout.
#pragma once

#include "base/layout.h"
#include "kernels/workload/pattern_file.h"
#include "sim/cli/cli.h"

#include <string>

namespace tessera::pattern {

/// What an option that a command cannot do without says. @throws cli::UsageError where it is not given
[[nodiscard]] const std::string& needed(const std::string& command, const std::string& option,
                                        const std::string& text);

/// What --marks means. @throws cli::UsageError where the file is none that has marks
[[nodiscard]] workload::Marks marks_of(const std::string& command, bool marks,
                                       const workload::MatrixPlace& from);

/// @throws cli::UsageError, ConfigError, IoError; so do the others
[[nodiscard]] std::string make_text(const cli::PatternMakeCommand& command);
[[nodiscard]] std::string show_text(const cli::PatternShowCommand& command, const Layout& layout);
[[nodiscard]] std::string convert_text(const cli::PatternConvertCommand& command);

} // namespace tessera::pattern
