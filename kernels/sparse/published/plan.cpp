// SPDX-License-Identifier: MIT
#include "kernels/sparse/published/plan.h"

#include "base/error.h"
#include "kernels/graph/append.h"
#include "kernels/graph/graph.h"
#include "kernels/lower/placing.h"
#include "kernels/published/static_planner.h"
#include "kernels/sparse/published/emitter.h"
#include "kernels/sparse/published/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::spmm {
namespace {

/// Roundings to the partials' type of the result element that has most: of each tile's partial result, and with
/// FP32 ones or blocks also of each product or block.
std::int64_t roundings_of(const PublishedLayout& layout) {
    const bool half = layout.types().partial == PublishedTypes::kHalf;
    if (half && layout.block() == 1) {
        return 1; // sums of a row are FP32
    }
    std::int64_t most = 0;
    std::map<std::pair<std::int64_t, std::int32_t>, std::int64_t> of_row;
    for (const TileBlocks& tile : layout.tiles()) {
        std::int64_t before = 0;
        for (std::size_t slot = 0; slot < tile.rows.size(); ++slot) {
            const std::int64_t blocks = tile.row_ends[slot] - before;
            before = tile.row_ends[slot];
            std::int64_t& of_this = of_row[{tile.part, tile.rows[slot]}];
            of_this = half ? std::max(of_this, blocks + 1) : of_this + blocks * layout.block() + 1;
            most = std::max(most, of_this);
        }
    }
    return most;
}

/// What the planner expects of one pass.
family::Division division_of(const PublishedLayout& layout) {
    const published::StaticPlan& plan = layout.plan();
    family::Division division;
    division.parts_n = static_cast<std::int64_t>(plan.parts.size());
    division.parts_k =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(plan.parts.front().bands.size()));
    division.parts_m = layout.machine().chip.tiles / (division.parts_n * division.parts_k);
    division.tiles_busy =
        std::count_if(layout.tiles().begin(), layout.tiles().end(),
                      [](const TileBlocks& tile) { return !tile.blocks.empty(); });
    division.roundings = roundings_of(layout);
    division.predicted.compute = plan.phases.compute + plan.phases.reduce;
    division.predicted.reduction = plan.phases.reduce;
    return division;
}

/// What a pass has of X and C joins what earlier ones have; W is the first's.
void join_tensors(graph::Graph& whole) {
    constexpr std::size_t kTensors = 3;
    constexpr std::size_t kW = 0;
    for (std::size_t i = kTensors; i < whole.tensors.size(); ++i) {
        graph::Tensor& tensor = whole.tensors[i - kTensors];
        if (i - kTensors != kW) {
            std::move(whole.tensors[i].pieces.begin(), whole.tensors[i].pieces.end(),
                      std::back_inserter(tensor.pieces));
        }
    }
    whole.tensors.resize(kTensors);
}

/// Without blocks nothing is multiplied: the result is zero where it stands.
std::optional<published::StaticPlan> plan_of(const published::StaticProblem& problem,
                                             const spec::MachineSpec& machine) {
    const bool empty = std::all_of(problem.row_counts.begin(), problem.row_counts.end(),
                                   [](std::int64_t blocks) { return blocks == 0; });
    if (!empty) {
        return published::plan_static(problem, published::static_machine(machine));
    }
    published::StaticPlan plan;
    plan.parts.push_back({0, problem.n, 0, machine.chip.tiles, {}});
    return plan;
}

std::string name_of(const workload::SpmmWorkload& workload, const workload::SparsePattern& matrix) {
    return fmt::format("spmm {} x {} x {} in {} x {} blocks, published plan", matrix.rows,
                       matrix.columns, workload.n, matrix.block, matrix.block);
}

/// The plan of `width` columns. @throws DoesNotFit where no split is valid
published::StaticPlan plan_of(const spec::MachineSpec& machine,
                              const workload::SpmmWorkload& workload,
                              const workload::SparsePattern& matrix, std::int64_t width) {
    published::StaticProblem problem;
    problem.type = workload.dtype;
    problem.n = width;
    problem.block = matrix.block;
    problem.column_counts.resize(static_cast<std::size_t>(matrix.block_columns()));
    for (std::int64_t row = 0; row < matrix.block_rows(); ++row) {
        const auto at = static_cast<std::size_t>(row);
        problem.row_counts.push_back(matrix.row_start[at + 1] - matrix.row_start[at]);
    }
    for (const std::int32_t column : matrix.block_column) {
        ++problem.column_counts[static_cast<std::size_t>(column)];
    }
    auto plan = plan_of(problem, machine);
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

family::Planned plan_published(const spec::MachineSpec& machine,
                               const workload::SpmmWorkload& workload,
                               const workload::SparsePattern& matrix, const PublishedUse& use) {
    const std::int64_t passes = use.passes;
    constexpr std::int64_t kColumns = 8; // that codelets take together
    const std::int64_t width =
        passes == 1 ? workload.n : ceil_div(ceil_div(workload.n, passes), kColumns) * kColumns;
    const std::string name = name_of(workload, matrix);
    const published::StaticPlan plan = plan_of(machine, workload, matrix, width);
    const PublishedLayout layout(machine, workload, matrix, plan, width, passes > 1 || use.in_loop);
    family::Division division = division_of(layout);
    if (passes == 1) {
        EmittedPass emitted = PassEmitter(layout, {0, 0, workload.n}, name).run();
        if (emitted.multiply > 0) {
            division.predicted.compute =
                emitted.multiply + emitted.reduce + 2 * machine.control.step_cycles;
            division.predicted.reduction = emitted.reduce;
        }
        lower::check_together(machine, emitted.graph, emitted.buffers.while_multiplying(),
                              "multiply");
        return {std::move(emitted.graph), std::move(division)};
    }
    graph::Graph whole(fmt::format("{} in {} passes", name, passes));
    std::vector<graph::Step> steps;
    std::optional<graph::Appended> first;
    std::vector<graph::BufferId> together; ///< while the first pass multiplies
    for (std::int64_t number = 0; number * width < workload.n; ++number) {
        const std::int64_t before = number * width;
        EmittedPass pass =
            PassEmitter(layout, {number, before, std::min(width, workload.n - before)}, name).run();
        const auto own = pass.buffers.of_pass();
        const auto standing = number == 0 ? pass.buffers.while_multiplying() : own;
        graph::Appended turn =
            first ? graph::append_again(whole, std::move(pass.graph), *first, own, kPublishedOwner)
                  : graph::append(whole, std::move(pass.graph), 0, kPublishedOwner);
        steps.push_back(turn.control);
        for (const graph::BufferId buffer : standing) {
            together.push_back(turn.buffers[buffer.index]);
        }
        join_tensors(whole);
        if (!first) {
            first = std::move(turn);
        }
        lower::check_together(machine, whole, together, "multiply");
    }
    whole.control = graph::sequence(std::move(steps));
    division.chunks = passes;
    division.predicted.compute *= passes;
    division.predicted.reduction *= passes;
    return {std::move(whole), std::move(division)};
}

} // namespace tessera::spmm
