// SPDX-License-Identifier: MIT
// Where the cycles of one run went.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tessera::calibrate {

struct StepCycles {
    std::string name;
    double cycles = 0;
};

struct RunFacts {
    std::string called = {}; ///< as the run is
    double cycles = 0;
    std::optional<double> sync_cycles; ///< nothing for a vertex, which has no barrier
    double words_per_tile = 0;         ///< received in all exchanges, mean over the machine's tiles
    double steps = 0;                  ///< executions of compute sets, exchanges and streams
    std::vector<StepCycles> by_step;   ///< most cycles first; barriers are a step "sync"
};

/// The facts of a workload's result (result.json), or of the runner's result of a vertex.
[[nodiscard]] RunFacts facts_of(const nlohmann::json& result);

} // namespace tessera::calibrate
