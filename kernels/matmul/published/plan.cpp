// SPDX-License-Identifier: MIT
#include "kernels/matmul/published/plan.h"

#include "base/error.h"
#include "kernels/matmul/published/emitter.h"
#include "kernels/matmul/published/layout.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace tessera::matmul {
namespace {

/// Of the result element that has most, to the partials' type.
std::int64_t roundings_of(const PublishedLayout& layout) {
    const PublishedCells& cells = layout.cells;
    const published::DensePlan& plan = layout.plan;
    const auto stages = std::ssize(plan.intermediate_depths);
    const std::int64_t parts = plan.split.in_parts;
    if (cells.partials == ElementType::F16) {
        return plan.tile.in_groups + stages + (parts > 1 ? 1 : 0);
    }
    const std::int64_t of_cell = cells.data == ElementType::F32 ? cells.in_group : 4;
    return of_cell * plan.tile.in_groups + parts + stages;
}

} // namespace

published::DensePlan published_plan(const spec::MachineSpec& machine,
                                    const workload::MatmulWorkload& workload,
                                    double temporary_share) {
    return published::plan_dense(problem_of(workload), published::dense_machine(machine),
                                 temporary_share);
}

Cycles published_cycles(const spec::MachineSpec& machine,
                        const workload::MatmulWorkload& workload) {
    published::DensePhases phases = published_plan(machine, workload).phases;
    phases.transform_inputs = phases.transform_weights = 0; // they stand as the vertices read them
    return phases.total();
}

family::Planned plan_published(const spec::MachineSpec& machine,
                               const workload::MatmulWorkload& workload,
                               const published::DensePlan& plan) {
    const std::string name =
        fmt::format("matmul {} x {} x {}, published plan", workload.m, workload.k, workload.n);
    const published::DenseSplit& split = plan.split;
    if (split.in_serial > 1) {
        throw NotModelled(fmt::format("{}: not modelled: its {} steps over k; see "
                                      "docs/published_plans.md",
                                      name, split.in_serial));
    }
    const PublishedLayout layout(machine, workload, plan);
    family::Division division{
        {split.out_parts, split.in_parts, split.field_parts, split.out_serial},
        plan.tiles(),
        roundings_of(layout),
        {}};
    const published::DensePhases& phases = plan.phases;
    PublishedEmitter emitter(layout, name);
    graph::Graph graph = emitter.run();
    // Operands stand as the vertices read them, so that none is rearranged for them on the tiles.
    division.predicted.compute =
        phases.serial_steps * (phases.slice + phases.vertex + phases.reduce + phases.update) +
        phases.final_cast + emitter.regrouping();
    division.predicted.reduction = phases.serial_steps * phases.reduce;
    return {std::move(graph), std::move(division)};
}

} // namespace tessera::matmul
