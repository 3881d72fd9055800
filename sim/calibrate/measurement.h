// SPDX-License-Identifier: MIT
// What a reference row becomes: runs of micro-workloads, and how the row's figure is read from
// their results.
#pragma once

#include "sim/calibrate/reference.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace tessera::sim::calibrate {

/// One workload on one machine. Equal ones are run once.
struct Run {
    std::string machine;                   ///< name
    std::vector<std::string> machine_sets; ///< path=value
    nlohmann::json workload;               ///< as a workload file holds it

    [[nodiscard]] std::string key() const;
};

struct Measurement {
    std::string group;
    std::vector<Run> runs;
    /// The simulated figure in the row's unit, from the results (result.json) of `runs`.
    std::function<double(const std::vector<nlohmann::json>&)> read;
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
