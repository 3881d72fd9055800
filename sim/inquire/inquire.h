// SPDX-License-Identifier: MIT
// The commands that answer questions about files and names: list, describe, check, schema. Each
// function returns the text for stdout. `tessera list` describes a machine, workload, vertex or
// sweep by the text at the key `description` of its file.
#pragma once

#include "sim/cli/cli.h"

#include <string>

namespace tessera::inquire {

/// Returns the names that `tessera list` prints, with a description of each.
[[nodiscard]] std::string list_text(const cli::ListCommand& command, const Layout& layout = {});
/// Returns the parameters of a machine or workload and their values; if the command names neither,
/// all parameters that exist. @throws ConfigError, IoError
[[nodiscard]] std::string describe_text(const cli::DescribeCommand& command,
                                        const Layout& layout = {});
/// Returns one line for each file. @throws ConfigError with the errors of all files; IoError
[[nodiscard]] std::string check_text(const cli::CheckCommand& command);
/// Returns the JSON schema of a kind of file.
[[nodiscard]] std::string schema_text(const cli::SchemaCommand& command);
/// Returns the versions of the program, the model, the result's schema and the compiler.
[[nodiscard]] std::string version_text();

} // namespace tessera::inquire
