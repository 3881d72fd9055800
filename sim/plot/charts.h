// SPDX-License-Identifier: MIT
// The charts that results and stores have.
#pragma once

#include "sim/plot/chart.h"
#include "sim/recording/read.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tessera::plot {

struct ChartName {
    const char* name;
    const char* sentence;
    bool is_of_stores;
};

/// Those that the option --chart takes.
inline constexpr ChartName kCharts[]{
    {"phases", "a result: where the machine's cycles went, and why", false},
    {"kernels", "a result: cycles of each kernel or step of a pipeline, by phase", false},
    {"steps", "a result: the steps that have most of the run, with their bounds", false},
    {"energy", "a result: joules by kind of event", false},
    {"memory", "a result: bytes of the fullest tile, by kind", false},
    {"roofline", "a result: compute sets by arithmetic intensity, under the ceilings", false},
    {"balance", "a folder of --out: tiles of the slowest steps in order of their cycles", false},
    {"tiles", "a folder of --out: cycles of every tile by kind", false},
    {"scatter", "a store: its points in two objectives, and the front", true},
    {"sensitivity", "a store: how much the first objective changes with each path", true}};

/// Whether a chart of a result shows its tiles one by one.
[[nodiscard]] bool needs_recording(std::string_view chart);

/// The chart of a result. `recording`: null where there is none.
/// @throws UsageError where the chart needs one, or the result has no such thing
[[nodiscard]] Chart chart_of_result(const std::string& name, const nlohmann::json& result,
                                    const recording::Recording* recording);

/// The chart of a store. @throws as `tessera sweep show`; UsageError where there are too few objectives
[[nodiscard]] Chart chart_of_store(const std::string& name, const std::string& store);

} // namespace tessera::plot
