// SPDX-License-Identifier: MIT
// `tessera diff`: two results, and what explains their difference.
#pragma once

#include "sim/cli/cli.h"
#include "sim/compare/comparison.h"

#include <nlohmann/json.hpp>

#include <string>

namespace tessera::compare {

/// The result that an operand names: a file of JSON, a folder of `--out`, or STORE:KEY, where KEY is
/// what a point's key begins with. Of a point, its machine and workload are those of its line.
/// @throws UsageError, IoError with what was expected
[[nodiscard]] Operand operand_of(const std::string& operand);
[[nodiscard]] nlohmann::json result_of(const std::string& operand);

/// @throws as operand_of
int diff_command(const cli::DiffCommand& command);

} // namespace tessera::compare
