// SPDX-License-Identifier: MIT
// What a vertex did, as JSON and as text for people; the text is made from the JSON. Its start:
//
//     vertex       scaled_add on bow, rows 8
//     tile         118 cycles: from the first instruction of the stub to its return
//     worker 0     72 cycles, 12..79, scaled_add
//     instructions 66 of workers, 6 of the supervisor
#pragma once

#include "base/layout.h"
#include "sim/vertex/check.h"
#include "sim/vertex/fit.h"
#include "sim/vertex/run.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tessera::vertex {

inline constexpr int kVertexResultSchemaVersion = 1;

/// One point of the result. With `with_arrays` the values after the run stand in it.
[[nodiscard]] Json point_json(const spec::MachineSpec& machine, const Bench& bench,
                              const PointResult& result, const std::vector<ArrayCheck>& checks,
                              bool with_arrays);

[[nodiscard]] Json fit_json(const Fit& fit, const std::string& of);

/// The whole result.
[[nodiscard]] Json result_json(const std::string& name, const std::string& machine,
                               Json unused_parameters, Json points, Json fit);

/// JSON Schema (draft 7) of a result.
[[nodiscard]] Json vertex_result_schema();

/// The report of a result for people.
[[nodiscard]] std::string report_text(const Json& result, const Layout& layout = {});

} // namespace tessera::vertex
