// SPDX-License-Identifier: MIT
#include "kernels/matmul/published/buffers.h"

#include <fmt/format.h>

#include <cstddef>

namespace tessera::matmul {

PublishedBuffers add_buffers(graph::Graph& graph, const PublishedLayout& layout) {
    using graph::Where;
    constexpr Bytes kBehindPartials = 32; // that codelets may read
    const workload::MatmulWorkload& workload = layout.workload();
    const bool pads_k = workload.k % layout.cells().in_group != 0;
    const bool pads_a = pads_k || workload.m % layout.cells().out_group != 0;
    PublishedBuffers buffers;
    buffers.out = graph.add_buffer(
        {.name = "partials", .where = Where::Region1, .read_beyond = kBehindPartials});
    buffers.weights =
        graph.add_buffer({.name = "weights", .padded = pads_a, .apart = {buffers.out}});
    buffers.x = graph.add_buffer({.name = "x", .padded = pads_k, .apart = {buffers.out}});
    const std::vector<graph::BufferId> read{buffers.x, buffers.weights};
    buffers.home_weights = graph.add_buffer({.name = "home of a", .padded = pads_a, .apart = read});
    buffers.slice = graph.add_buffer({.name = "slice of a", .apart = read});
    buffers.home_x = graph.add_buffer({.name = "home of b", .padded = pads_k, .apart = read});
    buffers.stack = graph.add_buffer({.name = "stack", .kind = program::SegmentKind::Stack});
    buffers.result = graph.add_buffer({.name = "result"});
    buffers.cast = graph.add_buffer({.name = "cast", .apart = {buffers.out}});
    buffers.regrouped = graph.add_buffer({.name = "regrouped"});
    if (workload.bias) {
        buffers.bias = graph.add_buffer({.name = "bias", .padded = true});
    }
    for (std::size_t stage = 0; stage <= layout.plan().intermediate_depths.size(); ++stage) {
        buffers.slots.push_back(graph.add_buffer(
            {.name = fmt::format("slices stage {}", stage), .read_beyond = kBehindPartials}));
        buffers.sums.push_back(graph.add_buffer({.name = fmt::format("sums stage {}", stage),
                                                 .read_beyond = kBehindPartials,
                                                 .apart = {buffers.slots.back()}}));
    }
    for (TileId tile = 0; tile < layout.tiles(); ++tile) {
        graph.hold(buffers.stack, tile, kStackBytes);
    }
    return buffers;
}

} // namespace tessera::matmul
