// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_turn.h"

#include "base/ceil_div.h"
#include "kernels/codelets/gather_cost.h"
#include "kernels/codelets/spmm_turn_cost.h"
#include "kernels/graph/halves.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::sparse {
namespace {

bool is_half(const Problem& problem) {
    return problem.types.data == ElementType::F16;
}

/// Words of 4 bytes that single elements are.
std::int64_t words_of(const Problem& problem, std::int64_t elements) {
    return is_half(problem) ? ceil_div(elements, std::int64_t{2}) : elements;
}

std::string vertex_of(const Problem& problem) {
    if (problem.block == 1) {
        return is_half(problem) ? "gather16" : "gather32";
    }
    // blocks whose values are the weights of one load
    if (problem.block == 16 && problem.types.partials == ElementType::F16) {
        return "spmm_turn_outputs16_f16";
    }
    return fmt::format("spmm_turn_block{}_{}", problem.block, name_of(problem.types.data));
}

} // namespace

std::string turn_codelet(const Problem& problem) {
    if (problem.block == 1) {
        return is_half(problem) ? "gather" : "gather_words";
    }
    return fmt::format("spmm_turn_{}", name_of(problem.types.data));
}

std::vector<std::uint16_t> order_of(const Part& part, const Part& cut,
                                    std::span<const std::int64_t> from) {
    std::vector<std::uint16_t> order;
    order.reserve(part.blocks.size() + 1);
    for (const std::int64_t block : part.blocks) {
        const auto at = std::ranges::lower_bound(cut.blocks, from[static_cast<std::size_t>(block)]);
        order.push_back(graph::half(at - cut.blocks.begin(), "blocks"));
    }
    if (order.size() % 2 != 0) {
        order.push_back(0);
    }
    return order;
}

void add_turn(graph::Graph& graph, const spec::MachineSpec& machine, graph::ComputeSetId set,
              TileId tile, const Problem& problem, std::int64_t blocks, graph::BufferId from,
              graph::BufferId to, graph::BufferId order) {
    const Bytes bytes = blocks * problem.value_bytes();
    const Bytes order_bytes = ceil_div(blocks, std::int64_t{2}) * 4;
    std::vector<graph::Field> state{graph::read({from}, bytes)};
    if (problem.block == 1) {
        const std::int64_t workers = machine.tile.workers;
        const std::int64_t words = words_of(problem, blocks);
        static_cast<void>(
            plan::counted_rounds(machine, ceil_div(words, workers), "non-zeros of a tile"));
        state.insert(state.end(), {graph::write({to}, 4 * words), graph::read({order}, order_bytes),
                                   graph::word(words / workers), graph::word(words % workers)});
    } else {
        state.insert(state.end(), {graph::write({to}, bytes), graph::read({order}, order_bytes),
                                   graph::word(blocks)});
    }
    graph.add_work(set, tile, bytes);
    graph.add_vertex(set, tile, vertex_of(problem), program::VertexKind::MultiWorker, state);
}

Cycles turn_cycles(const spec::MachineSpec& machine, const Problem& problem, std::int64_t blocks,
                   const std::vector<std::int64_t>& copied_words) {
    plan::StubTimeline stub(machine, false);
    for (const std::int64_t words : copied_words) {
        stub.copy(words);
    }
    const std::int64_t workers = machine.tile.workers;
    const Bytes element = bytes_of(problem.types.data);
    const std::int64_t units = problem.block == 1 ? words_of(problem, blocks) : blocks;
    std::vector<std::int64_t> issues;
    for (std::int64_t worker = 0; worker < workers; ++worker) {
        const std::int64_t own = units / workers + (worker < units % workers ? 1 : 0);
        issues.push_back(problem.block != 1
                             ? codelets::turn_blocks_issues(problem.block, element, own)
                         : is_half(problem) ? codelets::gather_issues(own)
                                            : codelets::gather_words_issues(own));
    }
    stub.multi_worker(issues);
    return stub.finish();
}

} // namespace tessera::sparse
