// SPDX-License-Identifier: MIT
#include "kernels/sparse/published/emitter.h"

#include "kernels/sparse/published/rows.h"

#include <utility>

namespace tessera::spmm {

using program::Role;

PassEmitter::PassEmitter(const PublishedLayout& layout, const PassOf& pass, const std::string& name)
    : layout_(layout), pass_(pass), element_(layout.types().element), emitted_{graph::Graph(name)},
      graph_(emitted_.graph), buffers_(emitted_.buffers) {}

EmittedPass PassEmitter::run() {
    graph_.codelets = layout_.types().codelets;
    add_buffers();
    bring_ = graph_.add_exchange({"bring", Role::Bring, kPublishedOwner});
    multiply_ =
        graph_.add_compute_set({"multiply", Role::Work, kPublishedOwner, "non-zeros", "row"});
    bring_x();
    if (layout_.moves_blocks() && pass_.number == 0) {
        bring_blocks();
    }
    add_multiply();
    std::vector<graph::Step> steps{graph::run(bring_)};
    if (layout_.types().zeroes) {
        steps.push_back(graph::run(add_zeros()));
    }
    steps.push_back(graph::run(multiply_));
    emitted_.reduce = add_rows(graph_, layout_, buffers_, steps);
    graph_.control = graph::sequence(std::move(steps));
    add_tensors();
    return std::move(emitted_);
}

void PassEmitter::hold_homes(graph::BufferId buffer, const Linear& homes) {
    for (std::int64_t i = 0; i < homes.used(); ++i) {
        graph_.hold(buffer, homes.tile(i), homes.span(i).size() * element_);
    }
}

void PassEmitter::add_buffers() {
    using graph::Where;
    constexpr Bytes kBehindArrays = 128; // that codelets may read behind their arrays
    const std::int64_t block = layout_.block();
    const bool pads_k = layout_.matrix().columns % block != 0;
    const bool pads_n = pass_.columns != layout_.padded_columns();
    PublishedBuffers& made = buffers_;
    made.values = graph_.add_buffer({.name = "values", .read_beyond = kBehindArrays});
    made.meta = graph_.add_buffer({.name = "meta", .kind = program::SegmentKind::Metadata});
    made.out = graph_.add_buffer({.name = "partials",
                                  .where = block == 1 ? Where::Any : Where::Region1,
                                  .read_beyond = kBehindArrays,
                                  .zeroed = block > 1 && !layout_.types().zeroes});
    made.x = graph_.add_buffer({.name = "x",
                                .read_beyond = kBehindArrays,
                                .padded = pads_n,
                                .apart = {made.out, made.values, made.meta}});
    made.home_x = graph_.add_buffer(
        {.name = "home of x", .padded = pads_k || pads_n, .apart = {made.x, made.values}});
    made.home_values = graph_.add_buffer(
        {.name = "home of values", .padded = block == 1, .apart = {made.x, made.values}});
    made.result = graph_.add_buffer({.name = "result", .zeroed = true});
    made.slots = graph_.add_buffer({.name = "slices", .read_beyond = kBehindArrays});
    made.sums = graph_.add_buffer({.name = "sums", .apart = {made.slots}});
    hold_homes(made.home_x, layout_.x_homes());
    hold_homes(made.result, layout_.c_homes());
    if (layout_.moves_blocks()) {
        hold_homes(made.home_values, layout_.value_homes());
    }
    for (TileId tile = 0; tile < layout_.tiles().size(); ++tile) {
        const TileBlocks& mine = layout_.tiles()[tile];
        if (mine.blocks.empty()) {
            continue;
        }
        graph_.hold(made.values, tile,
                    layout_.moves_blocks() ? layout_.values_of(mine).size() * element_
                                           : count_of(mine.blocks) * layout_.block_bytes());
        graph_.hold(made.x, tile, count_of(mine.columns) * layout_.line_bytes(mine.part));
        graph_.hold(made.out, tile, count_of(mine.rows) * layout_.partial_bytes(mine.part));
    }
}

} // namespace tessera::spmm
