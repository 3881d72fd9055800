// SPDX-License-Identifier: MIT
#include "kernels/matmul/published/plan.h"

#include "base/error.h"
#include "kernels/graph/graph.h"
#include "kernels/matmul/matmul_epilogue.h"
#include "kernels/matmul/published/bring.h"
#include "kernels/matmul/published/buffers.h"
#include "kernels/matmul/published/layout.h"
#include "kernels/matmul/published/multiply.h"
#include "kernels/matmul/published/reduce.h"
#include "kernels/matmul/published/results.h"
#include "kernels/matmul/published/tensors.h"
#include "kernels/published/dense_planner.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace tessera::matmul {
namespace {

using program::Role;

/// A plan's graph, step by step of its out-groups.
class PublishedEmitter {
public:
    PublishedEmitter(const PublishedLayout& layout, const std::string& name)
        : layout_(layout), epilogue_(layout.workload(), Epilogue::Neighbours::OfColumn),
          graph_(name) {}

    graph::Graph run() {
        add_codelets();
        weights_ = {weights_tensor(layout_), std::vector<Bytes>(layout_.tiles())};
        result_ = result_tensor(layout_);
        filled_results_.resize(layout_.tiles());
        buffers_ = add_buffers(graph_, layout_);
        std::vector<graph::Step> steps;
        for (std::int64_t step = 0; step < layout_.plan().split.out_serial; ++step) {
            add_step(step, steps);
        }
        graph_.control = graph::sequence(std::move(steps));
        graph_.add_tensor(std::move(weights_.tensor));
        graph_.add_tensor(inputs_tensor(layout_, buffers_));
        graph_.add_tensor(std::move(result_));
        if (epilogue_.has_bias()) {
            graph_.add_tensor(bias_tensor(layout_, buffers_, bias_homes_));
        }
        return std::move(graph_);
    }

private:
    void add_codelets() {
        graph_.codelets = {layout_.cells().codelet, "published/reduce_add", "copy"};
        if (layout_.casts()) {
            graph_.codelets.emplace_back("published/cast_fill_1d");
        }
        if (layout_.regroups()) {
            graph_.codelets.emplace_back("rearrange");
        }
        for (const std::string& source : epilogue_.codelets()) {
            graph_.codelets.push_back(source);
        }
    }

    void add_step(std::int64_t step, std::vector<graph::Step>& steps) {
        const published::DenseSplit& split = layout_.plan().split;
        const auto multiply = graph_.add_compute_set({layout_.in_step("multiply", step), Role::Work,
                                                      kPublishedOwner, "multiply-accumulates"});
        auto exchange = bring_operands(step, multiply, steps);
        add_multiply(graph_, layout_, buffers_, step, multiply);
        steps.push_back(graph::run(multiply));
        Partials partials = partials_of(layout_, buffers_, step);
        if (split.in_parts > 1) {
            exchange = add_reduction(graph_, layout_, buffers_, step, partials, steps);
        }
        if (layout_.casts()) {
            cast_results(graph_, layout_, buffers_, step, partials, steps);
        }
        if (layout_.regroups()) {
            regroup_results(graph_, layout_, buffers_, step, partials, steps);
        }
        if (layout_.is_serial()) {
            update_result(graph_, layout_, buffers_, step, partials, filled_results_, steps);
        }
        if (step == 0 && epilogue_.has_bias()) {
            bias_homes_ = bring_bias(graph_, layout_, buffers_, partials, exchange);
        }
        add_epilogue(graph_, layout_, buffers_, epilogue_, step, partials, steps);
        add_results(result_, layout_, step, partials);
    }

    /// Returns the exchange that brings the step's weights.
    graph::ExchangeId bring_operands(std::int64_t step, graph::ComputeSetId multiply,
                                     std::vector<graph::Step>& steps) {
        const bool inputs_before = layout_.is_serial() && layout_.plan().split.inputs_once;
        if (inputs_before && step == 0) {
            const auto bring = graph_.add_exchange({"bring inputs", Role::Bring, kPublishedOwner});
            bring_inputs(graph_, layout_, buffers_, bring, multiply);
            steps.push_back(graph::run(bring));
        }
        const auto slice = graph_.add_compute_set(
            {layout_.in_step("slice of a", step), Role::Bring, kPublishedOwner, "bytes"});
        const auto bring =
            graph_.add_exchange({layout_.in_step("bring", step), Role::Bring, kPublishedOwner});
        if (!inputs_before) {
            bring_inputs(graph_, layout_, buffers_, bring, multiply);
        }
        bring_weights(graph_, layout_, buffers_, step, slice, bring, multiply, weights_);
        steps.push_back(graph::run(slice));
        steps.push_back(graph::run(bring));
        return bring;
    }

    const PublishedLayout& layout_;
    Epilogue epilogue_;
    graph::Graph graph_;
    PublishedBuffers buffers_;
    HomeWeights weights_;
    graph::Tensor result_;
    std::vector<Bytes> filled_results_; ///< of all steps so far, by tile
    std::vector<TileId> bias_homes_;    ///< by field part
};

published::DenseProblem problem_of(const workload::MatmulWorkload& workload) {
    return {workload.m, workload.k, workload.n, workload.dtype, workload.partials};
}

/// Of the result element that has most, to the partials' type.
std::int64_t roundings_of(const PublishedLayout& layout) {
    const PublishedCells& cells = layout.cells();
    const published::DensePlan& plan = layout.plan();
    const auto stages = static_cast<std::int64_t>(plan.intermediate_depths.size());
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

Planned plan_published(const spec::MachineSpec& machine, const workload::MatmulWorkload& workload,
                       const published::DensePlan& plan) {
    const std::string name =
        fmt::format("matmul {} x {} x {}, published plan", workload.m, workload.k, workload.n);
    const published::DenseSplit& split = plan.split;
    if (split.in_serial > 1) {
        throw NotModelled(fmt::format("{}: not modelled: its {} steps over k; see "
                                      "docs/published_plans.md",
                                      name, split.in_serial));
    }
    const PublishedCells cells = cells_of(problem_of(workload), plan.vertex);
    const PublishedLayout layout(machine, workload, plan, cells);
    family::Division division;
    division.parts_m = split.out_parts;
    division.parts_k = split.in_parts;
    division.parts_n = split.field_parts;
    division.chunks = split.out_serial;
    division.tiles_busy = plan.tiles();
    division.roundings = roundings_of(layout);
    division.predicted.compute = plan.phases.vertex + plan.phases.reduce;
    division.predicted.reduction = plan.phases.reduce;
    return {PublishedEmitter(layout, name).run(), std::move(division)};
}

Cycles cost_of_published(const spec::MachineSpec& machine,
                         const workload::MatmulWorkload& workload) {
    return published_plan(machine, workload).phases.total();
}

} // namespace tessera::matmul
