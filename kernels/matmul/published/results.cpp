// SPDX-License-Identifier: MIT
#include "kernels/graph/cells.h"
#include "kernels/matmul/published/emitter.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"

#include <algorithm>

namespace tessera::matmul {

using program::Role;

/// Sums of one partial result become the data's type.
void PublishedEmitter::cast_results() {
    constexpr std::int64_t kGroup = 4; // elements that a worker casts at a time
    const std::int64_t most =
        layout_.machine.tile.workers * plan::most_shared_rounds(layout_.machine);
    const Bytes partial = bytes_of(cells_.partials);
    const Bytes result = bytes_of(cells_.result);
    const auto set = add_set("cast", Role::Reduce, "elements");
    for_results([&](HeldCells& held) {
        const std::int64_t elements = held.cells.size() * cells_.out_group;
        const graph::Place to{buffers_.cast};
        graph_.hold(to.buffer, held.tile, elements * result);
        plan::for_cuts(elements / kGroup, most, [&](std::int64_t first, std::int64_t groups) {
            const std::int64_t begin = first * kGroup;
            const std::int64_t own = groups * kGroup;
            graph_.add_vertex(set, held.tile, "Cast1D_float_half", program::VertexKind::MultiWorker,
                              {graph::read(held.place + begin * partial, own * partial),
                               graph::write(to + begin * result, own * result), graph::word(own)});
        });
        graph_.add_work(set, held.tile, elements);
        held.place = to;
    });
    graph::run_next(steps_, set);
}

/// Makes [group][column][8 rows] of FP32 results in [group][column][16 rows], on each tile.
void PublishedEmitter::regroup_results() {
    const Bytes cell = cells_.result_cell;
    const Bytes piece = cell / 2;
    const auto set = add_set("regroup", Role::Work, "bytes");
    Cycles slowest = 0;
    for_results([&](HeldCells& held) {
        const graph::Place to{buffers_.regrouped};
        plan::StubTimeline time(layout_.machine, false);
        graph_.hold(to.buffer, held.tile, held.cells.size() * cell);
        layout_.for_columns(held, [&](std::int64_t, const Range& columns, Bytes offset) {
            const std::int64_t pieces = columns.size();
            for (const Bytes half : {Bytes{0}, piece}) { // every other half cell from there on
                graph_.add_vertex(
                    set, held.tile, "rearrange_lines64", program::VertexKind::MultiWorker,
                    {graph::read(held.place + (offset + half), (pieces - 1) * cell + piece),
                     graph::write(to + (offset + half * pieces), pieces * piece), graph::word(cell),
                     graph::word(piece), graph::word(pieces), graph::word(piece / kWord),
                     graph::word(1)});
                time.rearrange(pieces, piece / kWord);
            }
        });
        slowest = std::max(slowest, time.finish());
        graph_.add_work(set, held.tile, held.cells.size() * cell);
        held.place = to;
    });
    graph::run_next(steps_, set);
    regrouping_ += layout_.machine.control.step_cycles + slowest;
}

void PublishedEmitter::update_result() {
    const auto set = add_set("update", Role::Reduce, "bytes");
    for_results([&](HeldCells& held) {
        const Bytes bytes = held.cells.size() * cells_.result_cell;
        const graph::Place to = results_.add(graph_, buffers_.result, held.tile, bytes);
        graph::copy_on_tile(graph_, layout_.machine, set, held.tile, held.place, to, bytes);
        graph_.add_work(set, held.tile, bytes);
        held.place = to;
    });
    graph::run_next(steps_, set);
}

void PublishedEmitter::bring_bias(graph::ExchangeId exchange) {
    std::vector<Epilogue::BiasPart> parts(static_cast<std::size_t>(split_.field_parts));
    for_results([&](const HeldCells& held) {
        const TileShare here = share(held.tile);
        const Range& columns = here.field;
        const Bytes bytes = ceil_div(columns.size() * bytes_of(cells_.result), kWord) * kWord;
        Epilogue::BiasPart& to = parts[static_cast<std::size_t>(here.part.field)];
        to = {columns.first, columns.size(), bytes, std::move(to.tiles)};
        to.tiles.push_back(held.tile);
    });
    bias_ = epilogue_.bring_bias(graph_, exchange, buffers_.bias, parts);
}

void PublishedEmitter::add_epilogue() {
    const auto sets =
        epilogue_.add_sets(graph_, kPublishedOwner, layout_.in_step("", step_), steps_);
    const std::int64_t halves = layout_.regroups() ? 2 : 1;
    const Bytes row = cells_.result_cell / halves;
    for_results([&](const HeldCells& held) {
        std::vector<Epilogue::Strip> strips;
        layout_.for_columns(held, [&](std::int64_t, const Range& columns, Bytes offset) {
            for (std::int64_t half = 0; half < halves; ++half) {
                strips.push_back({offset + half * columns.size() * row, columns.size(), row / kWord,
                                  columns.first * bytes_of(cells_.result)});
            }
        });
        epilogue_.add(graph_, layout_.machine, sets, held.tile, held.place,
                      held.cells.size() * cells_.result_cell, buffers_.bias, strips);
    });
}

void PublishedEmitter::add_results() {
    for_results([&](const HeldCells& held) {
        const TileShare here = share(held.tile);
        const Range& columns = here.field;
        const std::int64_t first_group = here.out_groups.first;
        graph::CellGrid cells{.rows = columns.size(),
                              .group = cells_.out_group,
                              .first_row = columns.first,
                              .first_group = first_group,
                              .host_inner = layout_.workload.m,
                              .host_row_stride = 1,
                              .host_inner_stride = layout_.workload.n,
                              .cell_bytes = cells_.result_cell,
                              .element_bytes = bytes_of(cells_.result)};
        if (!layout_.regroups()) {
            graph::add_cells(result_, held.tile, held.place, cells, held.cells.first,
                             held.cells.last);
            return;
        }
        cells.group /= 2;
        cells.cell_bytes /= 2;
        layout_.for_columns(held, [&](std::int64_t group, const Range& own, Bytes offset) {
            cells.rows = own.size();
            cells.first_row = columns.first + own.first;
            cells.first_group = 2 * (first_group + group);
            graph::add_cells(result_, held.tile, held.place + offset, cells, 0, 2 * own.size());
        });
    });
}

} // namespace tessera::matmul
