// SPDX-License-Identifier: MIT
#include "kernels/graph/halves.h"
#include "kernels/matmul/published/emitter.h"
#include "kernels/plan/repeat_limit.h"

namespace tessera::matmul {
namespace {

constexpr Bytes kStackBytes = 32; ///< of ConvPartial1x1Out_*

/// FP_INFMT: a bit each for data and weights.
std::int64_t format_of(const PublishedCells& cells) {
    constexpr std::int64_t kBothF143 = 3;
    return cells.data == ElementType::F143 ? kBothF143 : 0;
}

} // namespace

/// First output column, columns, first input column of each worker, 16 bits each; columns as words of 8
/// bytes.
graph::Field PublishedEmitter::worklists(TileId tile, std::int64_t columns) {
    const std::int64_t workers = layout_.machine.tile.workers;
    std::vector<std::int64_t> halves;
    for (std::int64_t worker = 0; worker < workers; ++worker) {
        const std::int64_t first = worker * columns / workers;
        const std::int64_t last = (worker + 1) * columns / workers;
        plan::counted_rounds(layout_.machine, last - first, "columns");
        halves.insert(halves.end(), {first * cells_.partial_cell / kWord, last - first,
                                     first * cells_.in_cell / kWord});
    }
    halves.resize((halves.size() + 1) / 2 * 2);
    std::vector<graph::Field> words;
    for (std::size_t i = 0; i < halves.size(); i += 2) {
        words.push_back(graph::halves(halves[i], halves[i + 1], "columns"));
    }
    return graph::table(graph_.add_table(tile, words));
}

void PublishedEmitter::add_vertex(graph::ComputeSetId set, TileId tile) {
    const TileShare here = share(tile);
    const std::int64_t columns = here.field.size();
    const std::int64_t outs = here.out_groups.size();
    const std::int64_t ins = here.in_groups.size();
    if (outs == 0) {
        return;
    }
    const auto pointers = [&](graph::BufferId buffer, std::int64_t count, Bytes bytes,
                              graph::Access access) {
        std::vector<graph::Field> words;
        for (std::int64_t i = 0; i < count; ++i) {
            words.push_back(graph::pointer({buffer, i * bytes}, bytes, access));
        }
        return graph::table(graph_.add_table(tile, words));
    };
    const auto out_table =
        pointers(buffers_.out, outs, columns * cells_.partial_cell, graph::Access::Write);
    const auto weights_table =
        pointers(buffers_.weights, ins * outs, cells_.block, graph::Access::Read);
    const auto in_table = pointers(buffers_.x, ins, columns * cells_.in_cell, graph::Access::Read);
    graph_.add_work(set, tile, columns * outs * ins);
    std::vector<graph::Field> state{
        out_table,
        weights_table,
        in_table,
        worklists(tile, columns),
        graph::halves(0, outs - 1, "groups of outputs"),
        graph::halves(ins - 1, 1, "groups of inputs"),
        graph::halves(cells_.out_stride, format_of(cells_), "strides"),
        graph::use({buffers_.stack}, kStackBytes, graph::Access::Write)};
    if (bytes_of(cells_.data) == 1) {
        state.push_back(graph::word(0)); // FP_ISCL
    }
    graph_.add_vertex(set, tile, cells_.multiply, program::VertexKind::Supervisor, state);
}

void PublishedEmitter::add_multiply(graph::ComputeSetId set) {
    for (TileId tile = 0; tile < layout_.tiles(); ++tile) {
        const TileShare here = share(tile);
        graph_.hold(buffers_.stack, tile, kStackBytes);
        graph_.hold(buffers_.out, tile, here.partial_cells() * cells_.partial_cell);
        graph_.hold(buffers_.weights, tile, here.weight_blocks() * cells_.block);
        graph_.hold(buffers_.x, tile, here.input_cells() * cells_.in_cell);
        add_vertex(set, tile);
    }
}

} // namespace tessera::matmul
