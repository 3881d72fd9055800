// SPDX-License-Identifier: MIT
// The document of several runs: `{"schema_version", "runs": [...]}`. Each run is a result, or says
// why there is none:
//
//     {"exit_code": 4, "machine": {"name": "bow"}, "message": "tessera: does not fit: ...",
//      "schema_version": 1, "status": "failed", "workload": {"name": "dense_4096_f32"}}
#pragma once

#include "base/layout.h"
#include "sim/process/exit_code.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tessera::run {

/// The entry of a run that failed.
[[nodiscard]] nlohmann::json failed_result(const std::string& workload, const std::string& machine,
                                           const process::Failure& failure);

[[nodiscard]] nlohmann::json several_results(const std::vector<nlohmann::json>& results);

/// The table of ratios to the first run that has a result, and a line for each that failed. Machines
/// are named where runs have different ones.
[[nodiscard]] std::string several_text(const std::vector<nlohmann::json>& results,
                                       const Layout& layout = {});

/// JSON Schema (draft 7) of several_results.
[[nodiscard]] nlohmann::json several_schema();

} // namespace tessera::run
