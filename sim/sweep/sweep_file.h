// SPDX-License-Identifier: MIT
// Sweep files: configs/sweeps/<name>.json -> SweepSpec. What is said of paths is checked where
// machines and workloads are known; here all else is.
#pragma once

#include "base/config/document.h"
#include "sim/sweep/places.h"
#include "sim/sweep/space.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::sweep {

/// Points of one sweep.
inline constexpr std::int64_t kMostPoints = 10'000'000;

/// The mode of closed forms.
inline constexpr const char* kEstimate = "estimate";

/// A path that follows from others.
struct Derived {
    std::string path;
    std::string expression;
};

/// A number that follows from results, parameters and other metrics of a point.
struct Metric {
    std::string name;
    std::string expression;
};

/// What makes a point good.
struct Objective {
    /// How results of several workloads are combined.
    enum class Over { GeometricMean, WeightedSum, Worst };

    std::string path;     ///< of a result, as `cycles`, of a parameter, or a metric's name
    bool largest = false; ///< is best; else the smallest
    Over over = Over::GeometricMean;
    std::vector<double> weights; ///< of WeightedSum, one a workload
};

struct SweepSpec {
    std::vector<std::string> machines;  ///< names or files as they are written, one or more
    std::vector<std::string> workloads; ///< the same
    std::string mode = "timing";
    Changes set;            ///< of all points
    std::vector<Axis> axes; ///< without machines and workloads
    Sample sample;
    std::vector<Changes>
        points; ///< beside those of the axes; of these alone where there are no axes
    std::vector<Derived> derived;         ///< each after those that it names
    std::vector<std::string> exclude;     ///< conditions on a point
    std::vector<std::string> constraints; ///< conditions on a result
    std::vector<Metric> metrics;          ///< each after those that it names
    std::vector<Objective> objectives;
    Places places; ///< of the machines, workloads and files that it names
};

/// `seed` is the workload's, as no machine has one; other paths are whole.
[[nodiscard]] std::string full_path(const std::string& path);

/// The sweep of a document; what that names is relative to the file from which it comes.
/// @throws ConfigError with all mistakes
[[nodiscard]] SweepSpec read_sweep(const config::Document& document);

/// The points of the axes, all of them for each machine and workload.
/// @throws ConfigError where they are more than kMostPoints
[[nodiscard]] Space space_of(const SweepSpec& sweep, const config::Document& document);

/// What configs/schemas/sweep.schema.json holds.
[[nodiscard]] nlohmann::json sweep_schema();

} // namespace tessera::sweep
