// SPDX-License-Identifier: MIT
#include "kernels/matmul/published/tensors.h"

#include "kernels/graph/cells.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tessera::matmul {

using published::DensePart;
using published::Run;

graph::Tensor weights_tensor(const PublishedLayout& layout) {
    const workload::MatmulWorkload& workload = layout.workload();
    graph::Tensor tensor{
        .name = "a", .type = layout.cells().data, .shape = {workload.m, workload.k}};
    tensor.given = true;
    return tensor;
}

void add_blocks(graph::Tensor& weights, const PublishedLayout& layout, std::int64_t step,
                TileId tile, graph::Place place, const Run& blocks) {
    const workload::MatmulWorkload& workload = layout.workload();
    const PublishedCells& cells = layout.cells();
    const DensePart here = layout.part(tile);
    const Run outs = layout.out_groups_of(here, step);
    const Run ins = layout.in_groups_of(here);
    for (std::int64_t at = blocks.first; at < blocks.last;) {
        const std::int64_t in = ins.first + at / outs.size();
        const std::int64_t out = outs.first + at % outs.size();
        const std::int64_t rows = cells.out_group;
        const std::int64_t whole = workload.m / rows - out;
        const std::int64_t count =
            std::clamp<std::int64_t>(whole, 1, std::min(outs.last - out, blocks.last - at));
        const std::int64_t channels = std::min(rows, workload.m - out * rows);
        const std::int64_t inputs = std::min(cells.in_group, workload.k - in * cells.in_group);
        graph::Piece piece;
        piece.tile = tile;
        piece.place = place + (at - blocks.first) * cells.block;
        piece.host_offset = out * rows * workload.k + in * cells.in_group;
        piece.dims = {{count, rows * workload.k, cells.block},
                      {channels, workload.k, cells.in_cell},
                      {inputs, 1, bytes_of(cells.data)}};
        weights.pieces.push_back(std::move(piece));
        at += count;
    }
}

graph::Tensor inputs_tensor(const PublishedLayout& layout, const PublishedBuffers& buffers) {
    const workload::MatmulWorkload& workload = layout.workload();
    graph::Tensor tensor{
        .name = "b", .type = layout.cells().data, .shape = {workload.k, workload.n}};
    tensor.given = true;
    for (TileId tile = 0; tile < layout.tiles(); ++tile) {
        const DensePart here = layout.part(tile);
        graph::CellGrid cells;
        cells.rows = layout.field_of(here).size();
        cells.group = layout.cells().in_group;
        cells.cell_bytes = layout.cells().in_cell;
        cells.element_bytes = bytes_of(layout.cells().data);
        cells.first_row = layout.field_of(here).first;
        cells.first_group = layout.in_groups_of(here).first;
        cells.host_inner = workload.k;
        cells.host_row_stride = 1;
        cells.host_inner_stride = workload.n;
        if (!layout.inputs_move()) {
            graph::add_cells(tensor, tile, {buffers.x}, cells, 0, layout.input_cells(here));
            continue;
        }
        const auto homes = layout.home_cells(here);
        if (here.out < static_cast<std::int64_t>(homes.size())) {
            const Run run = homes[static_cast<std::size_t>(here.out)];
            graph::add_cells(tensor, tile, {buffers.home_x}, cells, run.first, run.last);
        }
    }
    return tensor;
}

graph::Tensor result_tensor(const PublishedLayout& layout) {
    const workload::MatmulWorkload& workload = layout.workload();
    graph::Tensor tensor{
        .name = "c", .type = layout.cells().result, .shape = {workload.m, workload.n}};
    tensor.wanted = true;
    return tensor;
}

void add_results(graph::Tensor& result, const PublishedLayout& layout, std::int64_t step,
                 const Partials& results) {
    for (const auto& partials : results) {
        for (const HeldCells& held : partials.front()) {
            const DensePart here = layout.part(held.tile);
            const std::int64_t first_group = layout.out_groups_of(here, step).first;
            graph::CellGrid cells;
            cells.rows = layout.field_of(here).size();
            cells.group = layout.cells().out_group;
            cells.cell_bytes = layout.cells().result_cell;
            cells.element_bytes = bytes_of(layout.cells().result);
            cells.first_row = layout.field_of(here).first;
            cells.first_group = first_group;
            cells.host_inner = layout.workload().m;
            cells.host_row_stride = 1;
            cells.host_inner_stride = layout.workload().n;
            if (!layout.regroups()) {
                graph::add_cells(result, held.tile, held.place, cells, held.cells.first,
                                 held.cells.last);
                continue;
            }
            cells.group /= 2;
            cells.cell_bytes /= 2;
            layout.for_columns(held, [&](std::int64_t group, const Run& columns, Bytes offset) {
                cells.rows = columns.size();
                cells.first_row = layout.field_of(here).first + columns.first;
                cells.first_group = 2 * (first_group + group);
                graph::add_cells(result, held.tile, held.place + offset, cells, 0,
                                 2 * columns.size());
            });
        }
    }
}

graph::Tensor bias_tensor(const PublishedLayout& layout, const PublishedBuffers& buffers,
                          const std::vector<TileId>& homes) {
    const ElementType type = layout.cells().result;
    graph::Tensor bias{.name = "bias", .type = type, .shape = {layout.workload().n}};
    bias.given = true;
    for (std::size_t field = 0; field < homes.size(); ++field) {
        const Run columns = layout.field_of({0, static_cast<std::int64_t>(field), 0});
        bias.pieces.push_back(
            graph::run_of(homes[field], {buffers.bias}, columns.first, columns.size(), type));
    }
    return bias;
}

} // namespace tessera::matmul
