// SPDX-License-Identifier: MIT
#include "kernels/lower/steps.h"

#include "kernels/lower/lifetimes.h"

#include <algorithm>

namespace tessera::lower {
namespace {

using graph::Step;

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

std::vector<program::TileValue> bound_rounds(const graph::Graph& graph, const Step& step,
                                             const AddressOf& address_of) {
    std::vector<program::TileValue> words;
    for (const graph::BufferId round : step.rounds) {
        for (const graph::Held& held : graph.buffers.at(round.index).held) {
            words.push_back({held.tile, address_of({held.tile, {round}})});
        }
    }
    std::ranges::stable_sort(words, {}, &program::TileValue::tile);
    return words;
}

program::Step bound(const graph::Graph& graph, const Steps& steps, const Step& step,
                    const AddressOf& address_of) {
    program::Step made;
    if (is_empty(graph, step)) {
        return made;
    }
    made.kind = step.kind;
    made.index = step.kind == Step::Kind::ComputeSet ? steps.set_numbers[step.index]
                 : step.kind == Step::Kind::Exchange ? steps.exchange_numbers[step.index]
                                                     : step.index;
    made.count = step.count;
    made.zone = step.zone;
    made.row = step.row;
    made.row_a_round = step.row_a_round;
    made.rounds = bound_rounds(graph, step, address_of);
    made.only = step.only;
    if (step.word) {
        made.value = program::TileValue{step.word->tile, address_of(*step.word)};
    }
    for (const Step& child : step.children) {
        // which child of an if is meant is told by its place
        if (step.kind == Step::Kind::If || !is_empty(graph, child)) {
            made.children.push_back(bound(graph, steps, child, address_of));
        }
    }
    return made;
}

} // namespace

Steps number_steps(const graph::Graph& graph) {
    Steps steps;
    steps.set_numbers.assign(graph.compute_sets.size(), Steps::kLeftOut);
    steps.exchange_numbers.assign(graph.exchanges.size(), Steps::kLeftOut);
    number_leaves(graph, graph.control, steps);
    return steps;
}

program::Step bound_control(const graph::Graph& graph, const Steps& steps,
                            const AddressOf& address_of) {
    return bound(graph, steps, graph.control, address_of);
}

} // namespace tessera::lower
