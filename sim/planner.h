// SPDX-License-Identifier: MIT
// The kernels' planners behind one face.
#pragma once

#include "kernels/workload/operands.h"
#include "kernels/workload/workload.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <nlohmann/json.hpp>

#include <cstdint>

namespace tessera::sim {

struct Plan {
    program::Program program;
    std::int64_t roundings = 0; ///< to the partials type, of the result element that has most
    nlohmann::json json;        ///< what was chosen, and the cycles that the cost model expects
};

/// @throws DoesNotFit, NotModelled
[[nodiscard]] Plan plan(const spec::MachineSpec& machine, const workload::MatmulWorkload& workload);
[[nodiscard]] Plan plan(const spec::MachineSpec& machine, const workload::SpmmWorkload& workload,
                        const workload::SparseF16& a);

} // namespace tessera::sim
