// SPDX-License-Identifier: MIT
#include "kernels/matmul/published/multiply.h"

#include "kernels/graph/halves.h"
#include "kernels/plan/repeat_limit.h"

#include <cstddef>
#include <vector>

namespace tessera::matmul {
namespace {

using published::DensePart;

/// FP_INFMT: a bit each for data and weights.
std::int64_t format_of(const PublishedCells& cells) {
    constexpr std::int64_t kBothF143 = 3;
    return cells.data == ElementType::F143 ? kBothF143 : 0;
}

/// First output column, columns, first input column of each worker, 16 bits each; columns as words of 8
/// bytes.
graph::Field worklists(graph::Graph& graph, const PublishedLayout& layout, TileId tile,
                       std::int64_t columns) {
    const PublishedCells& cells = layout.cells();
    const std::int64_t workers = layout.machine().tile.workers;
    std::vector<std::int64_t> halves;
    for (std::int64_t worker = 0; worker < workers; ++worker) {
        const std::int64_t first = worker * columns / workers;
        const std::int64_t last = (worker + 1) * columns / workers;
        plan::counted_rounds(layout.machine(), last - first, "columns");
        for (const std::int64_t number :
             {first * cells.partial_cell / kWord, last - first, first * cells.in_cell / kWord}) {
            halves.push_back(number);
        }
    }
    halves.resize((halves.size() + 1) / 2 * 2);
    std::vector<graph::Field> words;
    for (std::size_t i = 0; i < halves.size(); i += 2) {
        words.push_back(graph::halves(halves[i], halves[i + 1], "columns"));
    }
    return graph::table(graph.add_table(tile, words));
}

void add_vertex(graph::Graph& graph, const PublishedLayout& layout, const PublishedBuffers& buffers,
                std::int64_t step, graph::ComputeSetId set, TileId tile) {
    const PublishedCells& cells = layout.cells();
    const DensePart here = layout.part(tile);
    const std::int64_t columns = layout.field_of(here).size();
    const std::int64_t outs = layout.out_groups_of(here, step).size();
    if (outs == 0) {
        return;
    }
    const std::int64_t ins = layout.in_groups_of(here).size();
    std::vector<graph::Field> words;
    const auto pointers = [&](std::int64_t count, const auto& place) {
        words.clear();
        for (std::int64_t i = 0; i < count; ++i) {
            words.push_back(place(i));
        }
        return graph::table(graph.add_table(tile, words));
    };
    const graph::Field out_table = pointers(outs, [&](std::int64_t i) {
        return graph::write({buffers.out, i * columns * cells.partial_cell},
                            columns * cells.partial_cell);
    });
    const graph::Field weights_table = pointers(ins * outs, [&](std::int64_t i) {
        return graph::read({buffers.weights, i * cells.block}, cells.block);
    });
    const graph::Field in_table = pointers(ins, [&](std::int64_t i) {
        return graph::read({buffers.x, i * columns * cells.in_cell}, columns * cells.in_cell);
    });
    graph.add_work(set, tile, columns * outs * ins);
    std::vector<graph::Field> state{out_table,
                                    weights_table,
                                    in_table,
                                    worklists(graph, layout, tile, columns),
                                    graph::halves(0, outs - 1, "groups of outputs"),
                                    graph::halves(ins - 1, 1, "groups of inputs"),
                                    graph::halves(cells.out_stride, format_of(cells), "strides"),
                                    graph::use({buffers.stack}, kStackBytes, graph::Access::Write)};
    if (bytes_of(cells.data) == 1) {
        state.push_back(graph::word(0)); // FP_ISCL
    }
    graph.add_vertex(set, tile, cells.multiply, program::VertexKind::Supervisor, state);
}

} // namespace

void add_multiply(graph::Graph& graph, const PublishedLayout& layout,
                  const PublishedBuffers& buffers, std::int64_t step, graph::ComputeSetId set) {
    const PublishedCells& cells = layout.cells();
    for (TileId tile = 0; tile < layout.tiles(); ++tile) {
        const DensePart here = layout.part(tile);
        graph.hold(buffers.out, tile, layout.partial_cells(here, step) * cells.partial_cell);
        graph.hold(buffers.weights, tile, layout.weight_blocks(here, step) * cells.block);
        graph.hold(buffers.x, tile, layout.input_cells(here) * cells.in_cell);
        add_vertex(graph, layout, buffers, step, set, tile);
    }
}

} // namespace tessera::matmul
