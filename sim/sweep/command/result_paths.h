// SPDX-License-Identifier: MIT
// What conditions and objectives may name of a result, held against the result's schema.
#pragma once

#include "base/config/document.h"
#include "sim/sweep/sweep_file.h"

#include <string>
#include <utility>
#include <vector>

namespace tessera::sweep {

/// Numbers, words and truths that a result may have, by their paths. `NAME` stands for whatever name
/// there is: `plan.bytes_by_buffer.NAME`.
[[nodiscard]] const std::vector<std::string>& result_paths();

/// The same, each with what the schema says of it.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> described_result_paths();

[[nodiscard]] bool is_result_path(const std::string& path);

/// A path of --set, of a machine or of a workload.
[[nodiscard]] bool is_parameter(const std::string& path);

/// A word that some parameter may be.
[[nodiscard]] bool is_choice(const std::string& word);

/// Whether a column of the sweep's points may be called so: a result, a parameter, a metric.
[[nodiscard]] bool is_column(const std::string& path, const SweepSpec& sweep);

/// "did you mean 'cycles'?" for a name that is none; empty where no column is near.
[[nodiscard]] std::string hint_for(const std::string& path, const SweepSpec& sweep);

/// Metrics, constraints and objectives name paths that results have, parameters or metrics.
/// @throws ConfigError with all mistakes and the nearest paths
void check_result_paths(const SweepSpec& sweep, const config::Document& document);

} // namespace tessera::sweep
