// SPDX-License-Identifier: MIT
// Runs the workloads of measurements, each in a process of its own, equal ones once.
#pragma once

#include "sim/calibrate/kept_runs.h"
#include "sim/calibrate/measurement.h"
#include "sim/run/batch.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tessera::calibrate {

/// What a run left: its result.json, or why there is none.
struct RunOutcome {
    /// Without what steps have by tile. Of a vertex: `cycles`, `worker_cycles`, `machine`.
    nlohmann::json result;
    std::string failure;
    bool not_modelled = false; ///< why it failed
    bool does_not_fit = false; ///< why it failed

    /// Gives the name by which progress and sweeps call it; empty: it is as it should be.
    [[nodiscard]] std::string status_of(const Run& run) const;
};

using RunOutcomes = std::map<std::string, RunOutcome>; ///< by Run::key

/// Runs each once, by its key. Those that `kept` has are not run again, and others go there as they
/// end; null: nothing is kept. `ended` is called after each with how many are
/// run and its status.
[[nodiscard]] RunOutcomes
run_all(const std::map<std::string, Run>& runs, int at_once, const run::Elaborate& elaborate,
        KeptRuns* kept,
        const std::function<void(std::size_t all, const std::string& status)>& ended);

} // namespace tessera::calibrate
