// SPDX-License-Identifier: MIT
// What is told of kernels beside their nearness: the rows that are farthest off with their steps,
// and what of the measured cycles nothing explains.
#pragma once

#include "sim/calibrate/outcome.h"
#include "sim/screen.h"

#include <nlohmann/json.hpp>

#include <string>

namespace tessera::sim::calibrate {

/// Empty where there are no kernels.
[[nodiscard]] std::string worst_rows_text(const Calibration& calibration, const Layout& layout);
[[nodiscard]] std::string unexplained_text(const Calibration& calibration, const Layout& layout);

[[nodiscard]] nlohmann::json kernel_json(const KernelRun& run);
/// Null of a group without kernels.
[[nodiscard]] nlohmann::json unexplained_json(const Calibration& calibration, const Group& group);

} // namespace tessera::sim::calibrate
