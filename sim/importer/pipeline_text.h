// SPDX-License-Identifier: MIT
// The two files that an import makes: a workload of kind `pipeline`, and the head of the .safetensors file
// with its known tensors.
#pragma once

#include "sim/importer/builder.h"

#include <string>
#include <vector>

namespace tessera::importer {

/// "a, b ('x/y')": tensors, each with its name in the model where that is another; "none".
[[nodiscard]] std::string names_text(const std::vector<Made::Given>& named);

/// The workload's file. `model` and `values` name the model's file and that of the known tensors.
[[nodiscard]] std::string pipeline_text(const std::string& model, const Made& made,
                                        const std::string& values);

/// The bytes that stand before the tensors of a .safetensors file.
[[nodiscard]] std::string values_head(const std::vector<Made::Known>& known);

} // namespace tessera::importer
