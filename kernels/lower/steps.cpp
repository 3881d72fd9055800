// SPDX-License-Identifier: MIT
#include "kernels/lower/steps.h"

#include "kernels/lower/lifetimes.h"

namespace tessera::lower {
namespace {

using program::Step;

void number(std::uint32_t leaf, std::vector<std::uint32_t>& of_program,
            std::vector<std::uint32_t>& numbers) {
    if (numbers[leaf] == Steps::kLeftOut) {
        numbers[leaf] = static_cast<std::uint32_t>(of_program.size());
        of_program.push_back(leaf);
    }
}

void number_leaves(const graph::Graph& graph, const Step& step, Steps& steps) {
    if (step.kind == Step::Kind::ComputeSet && !is_empty(graph, step)) {
        number(step.index, steps.sets, steps.set_numbers);
    }
    if (step.kind == Step::Kind::Exchange && !is_empty(graph, step)) {
        number(step.index, steps.exchanges, steps.exchange_numbers);
    }
    for (const Step& child : step.children) {
        number_leaves(graph, child, steps);
    }
}

} // namespace

Steps number_steps(const graph::Graph& graph) {
    Steps steps;
    steps.set_numbers.assign(graph.compute_sets.size(), Steps::kLeftOut);
    steps.exchange_numbers.assign(graph.exchanges.size(), Steps::kLeftOut);
    number_leaves(graph, graph.control, steps);
    return steps;
}

Step renumbered(const graph::Graph& graph, const Steps& steps, const Step& control) {
    if (is_empty(graph, control)) {
        return {};
    }
    Step made = control;
    made.children.clear();
    for (const Step& child : control.children) {
        // which child of an if is meant is told by its place
        if (control.kind == Step::Kind::If || !is_empty(graph, child)) {
            made.children.push_back(renumbered(graph, steps, child));
        }
    }
    if (control.kind == Step::Kind::ComputeSet) {
        made.index = steps.set_numbers[control.index];
    } else if (control.kind == Step::Kind::Exchange) {
        made.index = steps.exchange_numbers[control.index];
    }
    return made;
}

} // namespace tessera::lower
