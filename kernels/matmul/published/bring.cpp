// SPDX-License-Identifier: MIT
#include "kernels/matmul/published/bring.h"

#include "kernels/graph/copy.h"
#include "kernels/matmul/published/tensors.h"

#include <cstddef>

namespace tessera::matmul {
namespace {

using published::DensePart;
using published::Run;

/// To the tiles that differ from the holder in their field alone.
void send_weights(graph::Graph& graph, const PublishedLayout& layout, graph::ExchangeId bring,
                  graph::ComputeSetId copies, const DensePart& holder, graph::Place from,
                  graph::Place to, Bytes bytes) {
    const published::DenseSplit& split = layout.plan().split;
    const TileId tile = published::tile_of(split, holder);
    graph::copy_on_tile(graph, layout.machine(), copies, tile, from, to, bytes);
    std::vector<graph::Receiver> others;
    for (std::int64_t field = 0; field < split.field_parts; ++field) {
        if (field != holder.field) {
            others.push_back({published::tile_of(split, {holder.in, field, holder.out}), to});
        }
    }
    graph.add_message(bring, tile, from, bytes, others);
}

} // namespace

/// Both tiles of a pair need the same inputs: they take them together, but for what one of
/// them holds.
void bring_inputs(graph::Graph& graph, const PublishedLayout& layout,
                  const PublishedBuffers& buffers, graph::ExchangeId bring,
                  graph::ComputeSetId copies) {
    if (!layout.inputs_move()) {
        return;
    }
    const Bytes cell = layout.cells().in_cell;
    const std::int64_t outs = layout.plan().split.out_parts;
    const bool paired = outs % 2 == 0 && layout.machine().exchange.pair_double;
    for (std::int64_t turn = 0; turn < outs; ++turn) {
        for (std::int64_t first = 0; first < layout.plan().tiles(); first += outs) {
            const DensePart group = layout.part(static_cast<TileId>(first));
            const auto homes = layout.home_cells(group);
            if (turn >= static_cast<std::int64_t>(homes.size())) {
                continue;
            }
            const Run run = homes[static_cast<std::size_t>(turn)];
            const auto holder = static_cast<TileId>(first + turn);
            const Bytes bytes = run.size() * cell;
            const graph::Place from{buffers.home_x};
            const graph::Place to{buffers.x, run.first * cell};
            graph.hold(buffers.home_x, holder, bytes);
            graph::copy_on_tile(graph, layout.machine(), copies, holder, from, to, bytes);
            std::vector<graph::Receiver> others;
            for (std::int64_t out = 0; out < outs; ++out) {
                if (paired ? out / 2 != turn / 2 : out != turn) {
                    others.push_back({static_cast<TileId>(first + out), to});
                }
            }
            if (!others.empty()) {
                graph.add_message(bring, holder, from, bytes, others, paired);
            }
            if (paired) {
                graph.add_message(bring, holder, from, bytes,
                                  {static_cast<TileId>(first + (turn ^ 1)), to});
            }
        }
    }
}

void bring_weights(graph::Graph& graph, const PublishedLayout& layout,
                   const PublishedBuffers& buffers, std::int64_t step, graph::ComputeSetId slice,
                   graph::ExchangeId bring, graph::ComputeSetId copies, HomeWeights& homes) {
    const Bytes block = layout.cells().block;
    for (std::int64_t turn = 0; turn < layout.plan().split.field_parts; ++turn) {
        for (TileId tile = 0; tile < layout.tiles(); ++tile) {
            const DensePart holder = layout.part(tile);
            if (holder.field != turn) {
                continue;
            }
            const auto runs = layout.weights_move()
                                  ? layout.home_blocks(holder, step)
                                  : std::vector{Run{0, layout.weight_blocks(holder, step)}};
            if (turn >= static_cast<std::int64_t>(runs.size())) {
                continue;
            }
            const Run run = runs[static_cast<std::size_t>(turn)];
            const Bytes bytes = run.size() * block;
            if (!layout.weights_move() && !layout.is_serial()) {
                add_blocks(homes.tensor, layout, step, tile, {buffers.weights}, run);
                continue;
            }
            graph::Place from{buffers.home_weights, homes.filled[tile]};
            homes.filled[tile] += bytes;
            graph.hold(buffers.home_weights, tile, homes.filled[tile]);
            add_blocks(homes.tensor, layout, step, tile, from, run);
            if (layout.is_serial()) {
                const graph::Place sliced{layout.weights_move() ? buffers.slice : buffers.weights};
                graph.hold(sliced.buffer, tile, bytes);
                graph::copy_on_tile(graph, layout.machine(), slice, tile, from, sliced, bytes);
                graph.add_work(slice, tile, bytes);
                from = sliced;
            }
            if (layout.weights_move()) {
                send_weights(graph, layout, bring, copies, holder, from,
                             {buffers.weights, run.first * block}, bytes);
            }
        }
    }
}

} // namespace tessera::matmul
