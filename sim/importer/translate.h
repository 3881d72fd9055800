// SPDX-License-Identifier: MIT
// A model as a pipeline of kernels. Every mistake is told, by node: operators that are not in the list,
// and what a node asks of one that is.
#pragma once

#include "sim/importer/builder.h"
#include "sim/importer/model.h"

#include <cstdint>
#include <map>
#include <string>

namespace tessera::importer {

/// What is told besides the model.
struct Told {
    std::map<std::string, std::int64_t>
        sizes; ///< of inputs, by the names that the model has for them
    std::map<std::string, Elements> constants; ///< inputs that are known now, by name
};

/// `file_name` is for messages only. @throws ConfigError with all mistakes
[[nodiscard]] Made translate(const Model& model, const Told& told, const std::string& file_name);

} // namespace tessera::importer
