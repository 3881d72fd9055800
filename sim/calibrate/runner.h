// SPDX-License-Identifier: MIT
// Runs the workloads of measurements, each in a process of its own, equal ones once.
#pragma once

#include "sim/batch.h"
#include "sim/calibrate/measurement.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tessera::sim::calibrate {

/// What a run left: its result.json, or why there is none.
struct RunOutcome {
    /// Without what steps have by tile. Of a vertex: `cycles`, `worker_cycles`, `machine`.
    nlohmann::json result;
    std::string failure;
    bool not_modelled = false; ///< why it failed
};

using RunOutcomes = std::map<std::string, RunOutcome>; ///< by Run::key

/// `ended` is called after each run with how many have ended, and of how many.
[[nodiscard]] RunOutcomes
run_all(const std::vector<const Measurement*>& measurements, int at_once,
        const Elaborate& elaborate,
        const std::function<void(std::size_t ended, std::size_t all)>& ended);

} // namespace tessera::sim::calibrate
