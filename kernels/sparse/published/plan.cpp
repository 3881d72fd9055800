// SPDX-License-Identifier: MIT
#include "kernels/sparse/published/plan.h"

#include "base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/published/static_planner.h"
#include "kernels/sparse/published/emitter.h"
#include "kernels/sparse/published/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace tessera::sparse {
namespace {

/// Roundings to the partials' type of the result element that has most: of each tile's partial result, and with
/// FP32 ones or blocks also of each product or block.
std::int64_t roundings_of(const PublishedLayout& layout) {
    const bool half = layout.types.partial == PublishedTypes::kHalf;
    if (half && layout.block() == 1) {
        return 1; // sums of a row are FP32
    }
    std::int64_t most = 0;
    std::map<std::pair<std::int64_t, std::int32_t>, std::int64_t> of_row;
    for (const TileBlocks& tile : layout.tiles) {
        for (std::size_t slot = 0; slot < tile.rows.size(); ++slot) {
            const std::int64_t blocks = tile.row_blocks[slot];
            std::int64_t& of_this = of_row[{tile.part, tile.rows[slot]}];
            of_this = half ? std::max(of_this, blocks + 1) : of_this + blocks * layout.block() + 1;
            most = std::max(most, of_this);
        }
    }
    return most;
}

/// What the planner expects of one pass.
family::Division division_of(const PublishedLayout& layout) {
    const published::StaticPlan& plan = layout.plan;
    family::Division division;
    division.parts_n = std::ssize(plan.parts);
    division.parts_k = std::max<std::int64_t>(1, std::ssize(plan.parts.front().bands));
    division.parts_m = layout.machine.chip.tiles / (division.parts_n * division.parts_k);
    division.tiles_busy =
        std::count_if(layout.tiles.begin(), layout.tiles.end(),
                      [](const TileBlocks& tile) { return !tile.blocks.empty(); });
    division.roundings = roundings_of(layout);
    division.predicted.compute = plan.phases.compute + plan.phases.reduce;
    division.predicted.reduction = plan.phases.reduce;
    return division;
}

std::string name_of(const workload::SpmmWorkload& workload, const workload::SparsePattern& matrix) {
    return fmt::format("spmm {} x {} x {} in {} x {} blocks, published plan", matrix.rows,
                       matrix.columns, workload.n, matrix.block, matrix.block);
}

/// The plan of `width` columns. Without blocks nothing is multiplied: the result is zero where it stands.
/// @throws DoesNotFit where no split is valid
published::StaticPlan plan_of(const spec::MachineSpec& machine,
                              const workload::SpmmWorkload& workload,
                              const workload::SparsePattern& matrix, std::int64_t width) {
    if (matrix.blocks() == 0) {
        published::StaticPlan plan;
        plan.parts.push_back({0, width, 0, machine.chip.tiles, {}});
        return plan;
    }
    published::StaticProblem problem;
    problem.type = workload.dtype;
    problem.n = width;
    problem.block = matrix.block;
    problem.column_counts.resize(static_cast<std::size_t>(matrix.block_columns()));
    for (std::int64_t row = 0; row < matrix.block_rows(); ++row) {
        problem.row_counts.push_back(matrix.blocks_of_row(row));
    }
    for (const std::int32_t column : matrix.block_column) {
        ++problem.column_counts[static_cast<std::size_t>(column)];
    }
    auto plan = published::plan_static(problem, published::static_machine(machine));
    if (!plan) {
        throw DoesNotFit(fmt::format(
            "{}: no split of the published planner is valid for {} tiles (chip.tiles) of {} bytes "
            "each (memory.region0_bytes + memory.region1_bytes)",
            name_of(workload, matrix), machine.chip.tiles, machine.memory.bytes()));
    }
    return std::move(*plan);
}

} // namespace

Cycles published_cycles(const spec::MachineSpec& machine, const workload::SpmmWorkload& workload,
                        const workload::SparsePattern& matrix) {
    return plan_of(machine, workload, matrix, workload.n).phases.total();
}

std::int64_t columns_of_pass(std::int64_t n, std::int64_t passes) {
    constexpr std::int64_t kColumns = 8; // that codelets take together
    return passes == 1 ? n : ceil_div(ceil_div(n, passes), kColumns) * kColumns;
}

family::Planned plan_published(const spec::MachineSpec& machine,
                               const workload::SpmmWorkload& workload,
                               const workload::SparsePattern& matrix, const PublishedUse& use) {
    const std::int64_t passes = use.passes;
    const std::int64_t width = columns_of_pass(workload.n, passes);
    const std::string name = name_of(workload, matrix);
    const published::StaticPlan plan = plan_of(machine, workload, matrix, width);
    const PublishedLayout layout(machine, workload, matrix, plan, width, passes > 1 || use.in_loop);
    EmittedPlan emitted =
        PublishedEmitter(layout, passes == 1 ? name : fmt::format("{} in {} passes", name, passes))
            .run();
    family::Division division = division_of(layout);
    division.chunks = passes;
    if (passes == 1 && emitted.multiply > 0) {
        division.predicted.compute =
            emitted.multiply + emitted.reduce + 2 * machine.control.step_cycles;
        division.predicted.reduction = emitted.reduce;
    }
    division.predicted.compute *= passes;
    division.predicted.reduction *= passes;
    return {std::move(emitted.graph), std::move(division)};
}

} // namespace tessera::sparse
