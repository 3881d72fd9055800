// SPDX-License-Identifier: MIT
// Products of equal sizes with operands of their own: batched, or grouped. Some of them run side by
// side, each on an equal share of the tiles, and those that are left then, in turns. All operands and
// results stand in tile memory all the time.
#pragma once

#include "kernels/family/product.h"
#include "kernels/workload/workload.h"
#include "models/spec/machine_spec.h"

#include <functional>

namespace tessera::matmul {

/// How one of the groups of a workload is planned on a machine that has its share of tiles and memory.
struct PlanOfGroup {
    std::function<Cycles(const spec::MachineSpec&, const workload::MatmulWorkload&)> cost;
    std::function<family::Planned(const spec::MachineSpec&, const workload::MatmulWorkload&)> plan;
};

/// Of operands and result of one of them.
[[nodiscard]] double operand_bytes(const workload::MatmulWorkload& group);

/// The number side by side with the least cost of the turns together, of those that fit. Tensors "a",
/// "b", "c" and "bias" have the groups as their first dimension. @throws DoesNotFit
[[nodiscard]] family::Divided choose_groups(const spec::MachineSpec& machine,
                                            const workload::MatmulWorkload& workload,
                                            exchange_plan::KnownSchedules& known,
                                            const PlanOfGroup& group);

/// What the least of them is expected to take. @throws DoesNotFit where no number does
[[nodiscard]] Cycles cost_of_groups(const spec::MachineSpec& machine,
                                    const workload::MatmulWorkload& workload,
                                    const PlanOfGroup& group);

} // namespace tessera::matmul
