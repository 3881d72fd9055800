// SPDX-License-Identifier: MIT
// What a reference row becomes: runs of micro-workloads, and how the row's figure is read from
// their results.
#pragma once

#include "sim/calibrate/reference.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tessera::sim::calibrate {

/// One workload on one machine. Equal ones are run once.
struct Run {
    std::string machine;                   ///< name
    std::vector<std::string> machine_sets; ///< path=value
    nlohmann::json workload;               ///< as a workload file holds it
    std::string mode = "functional";       ///< or "timing"

    [[nodiscard]] std::string key() const;
};

/// A figure in the row's unit from the results (result.json) of runs.
using ReadFigure = std::function<double(const std::vector<nlohmann::json>&)>;

/// Runs beside those that are judged: the same products by plans of ours.
struct Ours {
    std::vector<Run> runs;
    ReadFigure read;
};

struct Measurement {
    std::string group; ///< that of the rule where the rule's own `measure` says nothing
    std::vector<Run> runs;
    ReadFigure read;
    ReadFigure read_without_sync; ///< of kernels: the same without barriers
    std::optional<Ours> ours;
    /// Of kernels that are one run: the cycles that a figure of the row's unit stands for.
    std::function<double(double figure)> cycles_of_figure;
    std::string timed;   ///< what is timed, for people
    std::string assumed; ///< what the row does not say and was chosen; empty: nothing
};

/// Why no run stands for a row.
struct NotCovered {
    std::string reason;
};

using Mapped = std::variant<Measurement, NotCovered>;

/// Contract: a row is known by its columns, never by its id.
/// @throws ConfigError for a cell that the row's rule needs and that is missing or wrong
[[nodiscard]] Mapped measurement_of(const ReferenceRow& row,
                                    const std::vector<std::string>& machines);

} // namespace tessera::sim::calibrate
