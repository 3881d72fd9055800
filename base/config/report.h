// SPDX-License-Identifier: MIT
// Configuration as text, for people. Example of the two tables:
//
//     path          type     unit     range  default  meaning                         source
//     tile.workers  integer  workers  1..8   6        worker contexts = issue slots
//     docs/evidence.md#tile
//
//     tile.workers  4  configs/machines/four.json:5
//     tile.pipeline_cycles  6  default
#pragma once

#include "base/config/document.h"
#include "base/config/shape.h"

#include <string>
#include <vector>

namespace tessera::config {

/// One line a parameter, in aligned columns under a line of headings.
[[nodiscard]] std::string parameters_text(const std::vector<Parameter>& parameters);

struct ResolvedValue {
    std::string path;
    nlohmann::json value;
    std::string origin; ///< "file:line", "--set" or "default"
};

/// The leaves of a resolved document in the order of their paths, each with where it was set.
[[nodiscard]] std::vector<ResolvedValue> resolved_values(const nlohmann::json& resolved,
                                                         const Origins& origins);

/// Path, value and origin in aligned columns.
[[nodiscard]] std::string resolved_text(const nlohmann::json& resolved, const Origins& origins);

} // namespace tessera::config
