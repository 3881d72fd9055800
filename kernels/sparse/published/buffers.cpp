// SPDX-License-Identifier: MIT
#include "kernels/sparse/published/buffers.h"

namespace tessera::spmm {
namespace {

constexpr Bytes kBehindArrays = 128; ///< that codelets may read behind their arrays

void hold_homes(graph::Graph& graph, graph::BufferId buffer, const Linear& homes, Bytes element) {
    for (std::int64_t i = 0; i < homes.used(); ++i) {
        graph.hold(buffer, homes.tile(i), homes.span(i).size() * element);
    }
}

} // namespace

PublishedBuffers add_buffers(graph::Graph& graph, const PublishedLayout& layout,
                             const PassOf& pass) {
    using graph::Where;
    const std::int64_t block = layout.block();
    const Bytes element = layout.types().element;
    const bool pads_k = layout.matrix().columns % block != 0;
    const bool pads_n = pass.columns != layout.padded_columns();
    PublishedBuffers buffers;
    buffers.values = graph.add_buffer({.name = "values", .read_beyond = kBehindArrays});
    buffers.meta = graph.add_buffer({.name = "meta", .kind = program::SegmentKind::Metadata});
    buffers.out = graph.add_buffer({.name = "partials",
                                    .where = block == 1 ? Where::Any : Where::Region1,
                                    .read_beyond = kBehindArrays,
                                    .zeroed = block > 1 && !layout.types().zeroes});
    buffers.x = graph.add_buffer({.name = "x",
                                  .read_beyond = kBehindArrays,
                                  .padded = pads_n,
                                  .apart = {buffers.out, buffers.values, buffers.meta}});
    buffers.home_x = graph.add_buffer(
        {.name = "home of x", .padded = pads_k || pads_n, .apart = {buffers.x, buffers.values}});
    buffers.home_values = graph.add_buffer(
        {.name = "home of values", .padded = block == 1, .apart = {buffers.x, buffers.values}});
    buffers.result = graph.add_buffer({.name = "result", .zeroed = true});
    buffers.slots = graph.add_buffer({.name = "slices", .read_beyond = kBehindArrays});
    buffers.sums = graph.add_buffer({.name = "sums", .apart = {buffers.slots}});
    hold_homes(graph, buffers.home_x, layout.x_homes(), element);
    hold_homes(graph, buffers.result, layout.c_homes(), element);
    if (layout.moves_blocks()) {
        hold_homes(graph, buffers.home_values, layout.value_homes(), element);
    }
    for (TileId tile = 0; tile < layout.tiles().size(); ++tile) {
        const TileBlocks& mine = layout.tiles()[tile];
        if (mine.blocks.empty()) {
            continue;
        }
        graph.hold(buffers.values, tile,
                   layout.moves_blocks() ? layout.values_of(mine).size() * element
                                         : count_of(mine.blocks) * layout.block_bytes());
        graph.hold(buffers.x, tile, count_of(mine.columns) * layout.line_bytes(mine.part));
        graph.hold(buffers.out, tile, count_of(mine.rows) * layout.partial_bytes(mine.part));
    }
    return buffers;
}

} // namespace tessera::spmm
