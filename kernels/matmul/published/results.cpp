// SPDX-License-Identifier: MIT
#include "kernels/matmul/published/results.h"

#include "kernels/graph/copy.h"
#include "kernels/plan/repeat_limit.h"

#include <cstddef>

namespace tessera::matmul {
namespace {

using program::Role;
using published::Run;

constexpr std::int64_t kCastGroup = 4; ///< elements that a worker casts at a time

/// Every other half cell from `from` on, one after the other.
void copy_pieces(graph::Graph& graph, const PublishedLayout& layout, graph::ComputeSetId set,
                 TileId tile, graph::Place from, graph::Place to, std::int64_t pieces) {
    const Bytes cell = layout.cells().result_cell;
    const Bytes piece = cell / 2;
    graph.add_vertex(set, tile, "rearrange_lines64", program::VertexKind::MultiWorker,
                     {graph::read(from, (pieces - 1) * cell + piece),
                      graph::write(to, pieces * piece), graph::word(cell), graph::word(piece),
                      graph::word(pieces), graph::word(piece / kWord), graph::word(1)});
}

/// Of some columns, in whole words.
Bytes bias_bytes(const PublishedLayout& layout, const Run& columns) {
    return (columns.size() * bytes_of(layout.cells().result) + kWord - 1) / kWord * kWord;
}

} // namespace

void cast_results(graph::Graph& graph, const PublishedLayout& layout,
                  const PublishedBuffers& buffers, std::int64_t step, Partials& results,
                  std::vector<graph::Step>& steps) {
    const PublishedCells& cells = layout.cells();
    const auto set = graph.add_compute_set(
        {layout.in_step("cast", step), Role::Reduce, kPublishedOwner, "elements"});
    for (auto& partials : results) {
        for (HeldCells& held : partials.front()) {
            const std::int64_t elements = held.cells.size() * cells.out_group;
            const graph::Place to{buffers.cast};
            graph.hold(buffers.cast, held.tile, elements * bytes_of(cells.result));
            plan::for_cuts(
                elements / kCastGroup,
                layout.machine().tile.workers * plan::most_shared_rounds(layout.machine()),
                [&](std::int64_t first, std::int64_t groups) {
                    const std::int64_t begin = first * kCastGroup;
                    const std::int64_t own = groups * kCastGroup;
                    graph.add_vertex(set, held.tile, "Cast1D_float_half",
                                     program::VertexKind::MultiWorker,
                                     {graph::read(held.place + begin * bytes_of(cells.partials),
                                                  own * bytes_of(cells.partials)),
                                      graph::write(to + begin * bytes_of(cells.result),
                                                   own * bytes_of(cells.result)),
                                      graph::word(own)});
                });
            graph.add_work(set, held.tile, elements);
            held.place = to;
        }
    }
    steps.push_back(graph::run(set));
}

void regroup_results(graph::Graph& graph, const PublishedLayout& layout,
                     const PublishedBuffers& buffers, std::int64_t step, Partials& results,
                     std::vector<graph::Step>& steps) {
    const auto set = graph.add_compute_set(
        {layout.in_step("regroup", step), Role::Work, kPublishedOwner, "bytes"});
    const Bytes piece = layout.cells().result_cell / 2;
    for (auto& partials : results) {
        for (HeldCells& held : partials.front()) {
            const graph::Place from = held.place;
            const graph::Place to{buffers.regrouped};
            const Bytes bytes = held.cells.size() * layout.cells().result_cell;
            graph.hold(buffers.regrouped, held.tile, bytes);
            layout.for_columns(held, [&](std::int64_t, const Run& columns, Bytes offset) {
                for (const Bytes half : {Bytes{0}, piece}) {
                    copy_pieces(graph, layout, set, held.tile, from + (offset + half),
                                to + (offset + half / piece * columns.size() * piece),
                                columns.size());
                }
            });
            graph.add_work(set, held.tile, bytes);
            held.place = to;
        }
    }
    steps.push_back(graph::run(set));
}

void update_result(graph::Graph& graph, const PublishedLayout& layout,
                   const PublishedBuffers& buffers, std::int64_t step, Partials& results,
                   std::vector<Bytes>& filled, std::vector<graph::Step>& steps) {
    const auto set = graph.add_compute_set(
        {layout.in_step("update", step), Role::Reduce, kPublishedOwner, "bytes"});
    for (auto& partials : results) {
        for (HeldCells& held : partials.front()) {
            const Bytes bytes = held.cells.size() * layout.cells().result_cell;
            const graph::Place to{buffers.result, filled[held.tile]};
            filled[held.tile] += bytes;
            graph.hold(buffers.result, held.tile, filled[held.tile]);
            graph::copy_on_tile(graph, layout.machine(), set, held.tile, held.place, to, bytes);
            graph.add_work(set, held.tile, bytes);
            held.place = to;
        }
    }
    steps.push_back(graph::run(set));
}

std::vector<TileId> bring_bias(graph::Graph& graph, const PublishedLayout& layout,
                               const PublishedBuffers& buffers, const Partials& results,
                               graph::ExchangeId exchange) {
    std::vector<TileId> homes;
    std::size_t number = 0;
    for (std::int64_t field = 0; field < layout.plan().split.field_parts; ++field) {
        std::vector<TileId> holders;
        for (std::int64_t out = 0; out < layout.plan().split.out_parts; ++out) {
            for (const HeldCells& held : results[number++].front()) {
                holders.push_back(held.tile);
            }
        }
        const Bytes bytes = bias_bytes(layout, layout.field_of({0, field, 0}));
        std::vector<graph::Receiver> others;
        for (const TileId tile : holders) {
            graph.hold(buffers.bias, tile, bytes);
            if (tile != holders.front()) {
                others.push_back({tile, {buffers.bias}});
            }
        }
        homes.push_back(holders.front());
        if (!others.empty()) {
            graph.add_message(exchange, holders.front(), {buffers.bias}, bytes, others);
        }
    }
    return homes;
}

void add_epilogue(graph::Graph& graph, const PublishedLayout& layout,
                  const PublishedBuffers& buffers, const Epilogue& epilogue, std::int64_t step,
                  const Partials& results, std::vector<graph::Step>& steps) {
    if (epilogue.is_empty()) {
        return;
    }
    const PublishedCells& cells = layout.cells();
    const auto sets = epilogue.add_sets(graph, kPublishedOwner, layout.in_step("", step), steps);
    const std::int64_t halves = layout.regroups() ? 2 : 1;
    for (const auto& partials : results) {
        for (const HeldCells& held : partials.front()) {
            std::vector<Epilogue::Strip> strips;
            layout.for_columns(held, [&](std::int64_t, const Run& columns, Bytes offset) {
                const Bytes row = cells.result_cell / halves;
                for (std::int64_t half = 0; half < halves; ++half) {
                    strips.push_back({offset + half * columns.size() * row, columns.size(),
                                      row / kWord, columns.first * bytes_of(cells.result)});
                }
            });
            epilogue.add(graph, layout.machine(), sets, held.tile, held.place,
                         held.cells.size() * cells.result_cell, buffers.bias, strips);
        }
    }
}

} // namespace tessera::matmul
