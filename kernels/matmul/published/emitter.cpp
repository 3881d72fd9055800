// SPDX-License-Identifier: MIT
#include "kernels/matmul/published/emitter.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::matmul {

using program::Role;

PublishedEmitter::PublishedEmitter(const PublishedLayout& layout, const std::string& name)
    : layout_(layout), cells_(layout.cells), split_(layout.plan.split),
      epilogue_(layout.workload, Epilogue::Neighbours::OfColumn), graph_(name) {}

graph::Graph PublishedEmitter::run() {
    const workload::MatmulWorkload& workload = layout_.workload;
    add_codelets();
    add_buffers();
    weights_ = graph::given_tensor("a", cells_.data, {workload.m, workload.k});
    result_ = graph::wanted_tensor("c", cells_.result, {workload.m, workload.n});
    for (; step_ < split_.out_serial; ++step_) {
        add_step();
    }
    graph_.control = graph::sequence(std::move(steps_));
    graph_.add_tensor(std::move(weights_));
    graph_.add_tensor(inputs_tensor());
    graph_.add_tensor(std::move(result_));
    if (epilogue_.has_bias()) {
        graph_.add_tensor(std::move(bias_));
    }
    return std::move(graph_);
}

void PublishedEmitter::add_codelets() {
    graph_.codelets = {cells_.codelet, "published/reduce_add", "copy"};
    if (layout_.casts()) {
        graph_.codelets.emplace_back("published/cast_fill_1d");
    }
    if (layout_.regroups()) {
        graph_.codelets.emplace_back("rearrange");
    }
    epilogue_.add_codelets(graph_.codelets);
}

void PublishedEmitter::add_buffers() {
    using graph::Where;
    constexpr Bytes kBehindPartials = 32; // that codelets may read
    const workload::MatmulWorkload& workload = layout_.workload;
    const bool pads_k = workload.k % cells_.in_group != 0;
    const bool pads_a = pads_k || workload.m % cells_.out_group != 0;
    Buffers& made = buffers_;
    made.out = graph_.add_buffer(
        {.name = "partials", .where = Where::Region1, .read_beyond = kBehindPartials});
    made.weights = graph_.add_buffer({.name = "weights", .padded = pads_a, .apart = {made.out}});
    made.x = graph_.add_buffer({.name = "x", .padded = pads_k, .apart = {made.out}});
    const std::vector<graph::BufferId> read{made.x, made.weights};
    made.home_weights = graph_.add_buffer({.name = "home of a", .padded = pads_a, .apart = read});
    made.slice = graph_.add_buffer({.name = "slice of a", .apart = read});
    made.home_x = graph_.add_buffer({.name = "home of b", .padded = pads_k, .apart = read});
    made.stack = graph_.add_buffer({.name = "stack", .kind = program::SegmentKind::Stack});
    made.result = graph_.add_buffer({.name = "result"});
    made.cast = graph_.add_buffer({.name = "cast", .apart = {made.out}});
    made.regrouped = graph_.add_buffer({.name = "regrouped"});
    if (workload.bias) {
        made.bias = graph_.add_buffer({.name = "bias", .padded = true});
    }
    for (std::size_t stage = 0; stage <= layout_.plan.intermediate_depths.size(); ++stage) {
        made.slots.push_back(graph_.add_buffer(
            {.name = fmt::format("slices stage {}", stage), .read_beyond = kBehindPartials}));
        made.sums.push_back(graph_.add_buffer({.name = fmt::format("sums stage {}", stage),
                                               .read_beyond = kBehindPartials,
                                               .apart = {made.slots.back()}}));
    }
}

graph::ComputeSetId PublishedEmitter::add_set(const std::string& name, Role role,
                                              const char* unit) {
    return graph_.add_compute_set({layout_.in_step(name, step_), role, kPublishedOwner, unit});
}

void PublishedEmitter::add_step() {
    const auto multiply = add_set("multiply", Role::Work, "multiply-accumulates");
    auto exchange = bring_operands(multiply);
    add_multiply(multiply);
    graph::run_next(steps_, multiply);
    partials_ = partials_of_step();
    if (split_.in_parts > 1) {
        exchange = add_reduction();
    }
    if (layout_.casts()) {
        cast_results();
    }
    if (layout_.regroups()) {
        regroup_results();
    }
    if (layout_.is_serial()) {
        update_result();
    }
    if (step_ == 0 && epilogue_.has_bias()) {
        bring_bias(exchange);
    }
    add_epilogue();
    add_results();
}

} // namespace tessera::matmul
