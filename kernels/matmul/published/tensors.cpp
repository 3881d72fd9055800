// SPDX-License-Identifier: MIT
#include "kernels/graph/cells.h"
#include "kernels/matmul/published/emitter.h"

#include <algorithm>

namespace tessera::matmul {

using published::DensePart;
using published::Run;

void PublishedEmitter::add_blocks(TileId tile, graph::Place place, const Run& blocks) {
    const workload::MatmulWorkload& workload = layout_.workload();
    const DensePart here = layout_.part(tile);
    const Run outs = layout_.out_groups_of(here, step_);
    const Run ins = layout_.in_groups_of(here);
    const std::int64_t rows = cells_.out_group;
    for (std::int64_t at = blocks.first; at < blocks.last;) {
        const std::int64_t in = ins.first + at / outs.size();
        const std::int64_t out = outs.first + at % outs.size();
        const std::int64_t whole = workload.m / rows - out;
        const std::int64_t count =
            std::clamp<std::int64_t>(whole, 1, std::min(outs.last - out, blocks.last - at));
        const std::int64_t channels = std::min(rows, workload.m - out * rows);
        const std::int64_t inputs = std::min(cells_.in_group, workload.k - in * cells_.in_group);
        weights_.pieces.push_back({tile,
                                   place + (at - blocks.first) * cells_.block,
                                   out * rows * workload.k + in * cells_.in_group,
                                   {{count, rows * workload.k, cells_.block},
                                    {channels, workload.k, cells_.in_cell},
                                    {inputs, 1, bytes_of(cells_.data)}}});
        at += count;
    }
}

graph::Tensor PublishedEmitter::inputs_tensor() const {
    const workload::MatmulWorkload& workload = layout_.workload();
    graph::Tensor tensor = graph::given_tensor("b", cells_.data, {workload.k, workload.n});
    for (TileId tile = 0; tile < layout_.tiles(); ++tile) {
        const DensePart here = layout_.part(tile);
        const graph::CellGrid cells{.rows = layout_.field_of(here).size(),
                                    .group = cells_.in_group,
                                    .first_row = layout_.field_of(here).first,
                                    .first_group = layout_.in_groups_of(here).first,
                                    .host_inner = workload.k,
                                    .host_row_stride = 1,
                                    .host_inner_stride = workload.n,
                                    .cell_bytes = cells_.in_cell,
                                    .element_bytes = bytes_of(cells_.data)};
        if (!layout_.inputs_move()) {
            graph::add_cells(tensor, tile, {buffers_.x}, cells, 0, layout_.input_cells(here));
            continue;
        }
        const auto homes = layout_.home_cells(here);
        if (here.out < std::ssize(homes)) {
            const Run run = homes[static_cast<std::size_t>(here.out)];
            graph::add_cells(tensor, tile, {buffers_.home_x}, cells, run.first, run.last);
        }
    }
    return tensor;
}

void PublishedEmitter::add_results() {
    for_results([&](const HeldCells& held) {
        const Run columns = layout_.field_of(layout_.part(held.tile));
        const std::int64_t first_group =
            layout_.out_groups_of(layout_.part(held.tile), step_).first;
        graph::CellGrid cells{.rows = columns.size(),
                              .group = cells_.out_group,
                              .first_row = columns.first,
                              .first_group = first_group,
                              .host_inner = layout_.workload().m,
                              .host_row_stride = 1,
                              .host_inner_stride = layout_.workload().n,
                              .cell_bytes = cells_.result_cell,
                              .element_bytes = bytes_of(cells_.result)};
        if (!layout_.regroups()) {
            graph::add_cells(result_, held.tile, held.place, cells, held.cells.first,
                             held.cells.last);
            return;
        }
        cells.group /= 2;
        cells.cell_bytes /= 2;
        layout_.for_columns(held, [&](std::int64_t group, const Run& own, Bytes offset) {
            cells.rows = own.size();
            cells.first_row = columns.first + own.first;
            cells.first_group = 2 * (first_group + group);
            graph::add_cells(result_, held.tile, held.place + offset, cells, 0, 2 * own.size());
        });
    });
}

graph::Tensor PublishedEmitter::bias_tensor() const {
    graph::Tensor bias = graph::given_tensor("bias", cells_.result, {layout_.workload().n});
    for (const TileId home : bias_homes_) {
        const Run columns = layout_.field_of(layout_.part(home));
        bias.pieces.push_back(
            graph::run_of(home, {buffers_.bias}, columns.first, columns.size(), bias.type));
    }
    return bias;
}

} // namespace tessera::matmul
