// SPDX-License-Identifier: MIT
// The commands that answer questions about files and names: list, describe, check, schema. Each
// returns the text for stdout. How `tessera list` describes a machine, workload or vertex stands in
// its file, at the key `description`.
#pragma once

#include "sim/cli/cli.h"

#include <string>

namespace tessera::inquire {

[[nodiscard]] std::string list_text(const cli::ListCommand& command, const Layout& layout = {});
/// @throws ConfigError, IoError
[[nodiscard]] std::string describe_text(const cli::DescribeCommand& command,
                                        const Layout& layout = {});
/// One line a file. @throws ConfigError with the mistakes of all files; IoError
[[nodiscard]] std::string check_text(const cli::CheckCommand& command);
[[nodiscard]] std::string schema_text(const cli::SchemaCommand& command);
/// Version, build and the versions of what decides results.
[[nodiscard]] std::string version_text();

} // namespace tessera::inquire
