// SPDX-License-Identifier: MIT
// What a result says of energy and area: sim/cost, applied to what a run left.
#pragma once

#include "sim/cost/activity.h"
#include "sim/result/result.h"
#include "sim/result/result_head.h"
#include "sim/result/result_table.h"

namespace tessera::result {

/// `activity`, of all chips, and `energy`.
[[nodiscard]] Table<RunFacts> cost_table();

/// `area`, of one chip.
[[nodiscard]] Entry<HeadFacts> area_entry();

/// The same of a point whose activity a store has: all but what `energy` says of steps.
[[nodiscard]] nlohmann::json energy_values(const cost::Activity& activity, double seconds,
                                           std::optional<double> flops,
                                           const spec::MachineSpec& machine);
[[nodiscard]] nlohmann::json area_values(const spec::MachineSpec& machine);

} // namespace tessera::result
