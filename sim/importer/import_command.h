// SPDX-License-Identifier: MIT
// The command `tessera import`: a model of ONNX becomes a workload of kind `pipeline` and, beside it,
// a .safetensors file with what is known of it. docs/onnx.md has both.
//
//     M.onnx -> read_onnx_file() -> Model -> translate() -> Made -> M.json, M.safetensors
#pragma once

#include "base/layout.h"
#include "sim/cli/cli.h"

#include <string>

namespace tessera::importer {

/// Returns the text for stdout. Nothing is written where there is a mistake.
/// @throws cli::UsageError, ConfigError, IoError, NotModelled
[[nodiscard]] std::string import_text(const cli::ImportCommand& command, const Layout& layout);

} // namespace tessera::importer
