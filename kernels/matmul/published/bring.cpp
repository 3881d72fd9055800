// SPDX-License-Identifier: MIT
#include "kernels/graph/cells.h"
#include "kernels/matmul/published/emitter.h"

#include <algorithm>

namespace tessera::matmul {

using program::Role;

graph::ExchangeId PublishedEmitter::bring_operands(graph::ComputeSetId copies) {
    const bool inputs_before = layout_.is_serial() && split_.inputs_once;
    if (inputs_before && step_ == 0) {
        const auto before = graph_.add_exchange({"bring inputs", Role::Bring, kPublishedOwner});
        bring_inputs({graph_, layout_.machine, before, copies});
        graph::run_next(steps_, before);
    }
    const auto slice = add_set("slice of a", Role::Bring, "bytes");
    const auto exchange =
        graph_.add_exchange({layout_.in_step("bring", step_), Role::Bring, kPublishedOwner});
    if (!inputs_before) {
        bring_inputs({graph_, layout_.machine, exchange, copies});
    }
    bring_weights(slice, {graph_, layout_.machine, exchange, copies});
    graph::run_next(steps_, slice, exchange);
    return exchange;
}

/// Both tiles of a pair need the same inputs: they take them together, but for what one of
/// them holds.
void PublishedEmitter::bring_inputs(graph::Bringing bringing) {
    if (!layout_.inputs_move()) {
        return;
    }
    const std::int64_t outs = split_.out_parts;
    const bool paired = outs % 2 == 0 && layout_.machine.exchange.pair_double;
    for (std::int64_t turn = 0; turn < outs; ++turn) {
        for (std::int64_t first = 0; first < split_.tiles(); first += outs) {
            const auto homes = layout_.home_cells(share(static_cast<TileId>(first)));
            if (turn >= std::ssize(homes)) {
                continue;
            }
            const Range run = homes[static_cast<std::size_t>(turn)];
            const auto holder = static_cast<TileId>(first + turn);
            const Bytes bytes = run.size() * cells_.in_cell;
            graph_.hold(buffers_.home_x, holder, bytes);
            std::vector<graph::Receiver> far;
            std::vector<graph::Receiver> near; // the holder and its partner
            for (std::int64_t out = 0; out < outs; ++out) {
                const bool is_near = paired ? out / 2 == turn / 2 : out == turn;
                (is_near ? near : far)
                    .push_back({static_cast<TileId>(first + out),
                                {buffers_.x, run.first * cells_.in_cell}});
            }
            graph_.add_message(bringing.exchange, holder, {buffers_.home_x}, bytes, far, paired);
            bringing.add(holder, {buffers_.home_x}, bytes, near);
        }
    }
}

void PublishedEmitter::bring_weights(graph::ComputeSetId slice, graph::Bringing bringing) {
    for (std::int64_t turn = 0; turn < split_.field_parts; ++turn) {
        for (TileId tile = 0; tile < layout_.tiles(); ++tile) {
            const TileShare holder = share(tile);
            if (holder.part.field != turn) {
                continue;
            }
            const auto runs = layout_.weights_move()
                                  ? layout_.home_blocks(holder)
                                  : std::vector{Range{0, holder.weight_blocks()}};
            if (turn >= std::ssize(runs)) {
                continue;
            }
            const Range run = runs[static_cast<std::size_t>(turn)];
            const Bytes bytes = run.size() * cells_.block;
            if (!layout_.weights_move() && !layout_.is_serial()) {
                add_blocks(tile, {buffers_.weights}, run);
                continue;
            }
            graph::Place from = home_weights_.add(graph_, buffers_.home_weights, tile, bytes);
            add_blocks(tile, from, run);
            if (layout_.is_serial()) {
                const graph::Place sliced{layout_.weights_move() ? buffers_.slice
                                                                 : buffers_.weights};
                graph_.hold(sliced.buffer, tile, bytes);
                graph::copy_on_tile(graph_, layout_.machine, slice, tile, from, sliced, bytes);
                graph_.add_work(slice, tile, bytes);
                from = sliced;
            }
            if (layout_.weights_move()) {
                std::vector<graph::Receiver> all; // of its rows and channels
                for (std::int64_t field = 0; field < split_.field_parts; ++field) {
                    all.push_back(
                        {published::tile_of(split_, {holder.part.in, field, holder.part.out}),
                         {buffers_.weights, run.first * cells_.block}});
                }
                bringing.add(tile, from, bytes, all);
            }
        }
    }
}

void PublishedEmitter::add_blocks(TileId tile, graph::Place place, const Range& blocks) {
    const TileShare here = share(tile);
    const workload::MatmulWorkload& workload = layout_.workload;
    const graph::WeightGrid grid{
        .inputs = {here.in_groups, cells_.in_group, workload.k},
        .channels = {here.out_groups, cells_.out_group, workload.m, workload.k},
        .element_bytes = bytes_of(cells_.data)};
    graph::add_weights(weights_, tile, place, grid, blocks.first, blocks.last);
}

graph::Tensor PublishedEmitter::inputs_tensor() const {
    const workload::MatmulWorkload& workload = layout_.workload;
    graph::Tensor tensor = graph::given_tensor("b", cells_.data, {workload.k, workload.n});
    for (TileId tile = 0; tile < layout_.tiles(); ++tile) {
        const TileShare here = layout_.share(tile, 0); // of all steps
        const graph::CellGrid cells{.rows = here.field.size(),
                                    .group = cells_.in_group,
                                    .first_row = here.field.first,
                                    .first_group = here.in_groups.first,
                                    .host_inner = workload.k,
                                    .host_row_stride = 1,
                                    .host_inner_stride = workload.n,
                                    .cell_bytes = cells_.in_cell,
                                    .element_bytes = bytes_of(cells_.data)};
        if (!layout_.inputs_move()) {
            graph::add_cells(tensor, tile, {buffers_.x}, cells, 0, here.input_cells());
            continue;
        }
        const auto homes = layout_.home_cells(here);
        if (here.part.out < std::ssize(homes)) {
            const Range run = homes[static_cast<std::size_t>(here.part.out)];
            graph::add_cells(tensor, tile, {buffers_.home_x}, cells, run.first, run.last);
        }
    }
    return tensor;
}

} // namespace tessera::matmul
