// SPDX-License-Identifier: MIT
// What a sweep file says, key by key, before anything is made of it.
#pragma once

#include "base/config/shape.h"
#include "sim/sweep/sweep_file.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::sweep {

/// Of `values`, `range` and `log2`, one is given; the others are null.
struct AxisText {
    std::string path;
    std::vector<std::string> paths;
    nlohmann::json values;
    nlohmann::json range;
    nlohmann::json log2;
    bool logarithmic = false;
};

struct ObjectiveText {
    std::string path;
    bool largest = false;
    Objective::Over over = Objective::Over::GeometricMean;
    std::vector<double> weights;
};

struct SampleText {
    Sampling kind = Sampling::Grid;
    std::int64_t n = 0;
    std::int64_t seed = 1;
};

struct SweepText {
    nlohmann::json machine = "bow";
    nlohmann::json workload;
    std::string mode = "timing";
    nlohmann::json set;
    std::vector<AxisText> axes;
    SampleText sample;
    nlohmann::json points;
    nlohmann::json derive;
    std::vector<std::string> exclude;
    std::vector<std::string> constraints;
    nlohmann::json metrics;
    std::vector<ObjectiveText> objectives;
};

/// The keys of a sweep file, with the rules that one key has by itself.
[[nodiscard]] const config::Shape& sweep_shape();

} // namespace tessera::sweep
