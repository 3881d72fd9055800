// SPDX-License-Identifier: MIT
// A calibration as text, JSON and CSV. The start of the text:
//
//     row            unit  measured  simulated  ratio
//     exchange: gather
//     JIA-T4.11-00   us       0.094     0.0963  1.024
//
// and its end, a line a group:
//
//     group             rows  ratio  error  p90     most    target
//     exchange: gather     8  1.012  2.1 %  4.0 %   4.4 %   mean 10 %, p90 25 %: reached
#pragma once

#include "base/layout.h"
#include "sim/calibrate/outcome.h"

#include <nlohmann/json.hpp>

#include <string>

namespace tessera::calibrate {

[[nodiscard]] std::string calibration_text(const Calibration& calibration,
                                           const Layout& layout = {});
/// For kernel groups: what measured cycles exceed simulated ones by; empty if there are none.
[[nodiscard]] std::string unexplained_text(const Calibration& calibration,
                                           const Layout& layout = {});
[[nodiscard]] nlohmann::json calibration_json(const Calibration& calibration);
/// One line a row, those that are not covered too.
[[nodiscard]] std::string calibration_csv(const Calibration& calibration);

/// JSON Schema (draft 7) of calibration_json.
[[nodiscard]] nlohmann::json calibration_schema();

} // namespace tessera::calibrate
