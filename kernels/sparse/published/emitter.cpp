// SPDX-License-Identifier: MIT
#include "kernels/sparse/published/emitter.h"

#include "kernels/lower/placing.h"
#include "kernels/sparse/published/rows.h"

#include <algorithm>
#include <utility>

namespace tessera::spmm {

using program::Role;

PublishedEmitter::PublishedEmitter(const PublishedLayout& layout, const std::string& name)
    : layout_(layout), element_(layout.types().element), emitted_{graph::Graph(name)},
      graph_(emitted_.graph) {}

EmittedPlan PublishedEmitter::run() {
    const workload::SparsePattern& matrix = layout_.matrix();
    const ElementType type = layout_.types().data;
    const std::int64_t n = layout_.n();
    x_ = graph::given_tensor("b", type, {matrix.columns, n});
    c_ = graph::wanted_tensor("c", type, {matrix.rows, n});
    graph_.codelets = layout_.types().codelets;
    for (; columns_.first < n; columns_.first = columns_.last) {
        columns_.last = std::min(n, columns_.first + layout_.width());
        add_pass();
    }
    graph_.control = graph::sequence(std::move(steps_));
    graph_.add_tensor(values_tensor());
    graph_.add_tensor(std::move(x_));
    graph_.add_tensor(std::move(c_));
    return std::move(emitted_);
}

void PublishedEmitter::add_pass() {
    const bool is_first = columns_.first == 0;
    if (is_first) {
        add_buffers();
        standing_ = {buffers_.result, buffers_.x, buffers_.out, buffers_.values};
    } else {
        add_home_x();
        add_result();
        standing_.insert(standing_.end(), {buffers_.home_x, buffers_.result});
    }
    const auto exchange = graph_.add_exchange({"bring", Role::Bring, kPublishedOwner});
    multiply_ =
        graph_.add_compute_set({"multiply", Role::Work, kPublishedOwner, "non-zeros", "row"});
    graph::Bringing bring{graph_, layout_.machine(), exchange, multiply_};
    bring_x(bring);
    if (layout_.moves_blocks() && is_first) {
        bring_blocks(bring);
    }
    add_multiply();
    graph::run_next(steps_, exchange);
    if (layout_.types().zeroes) {
        graph::run_next(steps_, add_zeros());
    }
    graph::run_next(steps_, multiply_);
    emitted_.reduce = add_rows(graph_, layout_, buffers_, steps_);
    add_lines(x_, layout_.x_homes(), buffers_.home_x);
    add_lines(c_, layout_.c_homes(), buffers_.result);
    lower::check_together(layout_.machine(), graph_, standing_, "multiply");
}

void PublishedEmitter::add_home_x() {
    const bool pads = layout_.matrix().columns % layout_.block() != 0 || pads_columns();
    buffers_.home_x = graph_.add_buffer(
        {.name = "home of x", .padded = pads, .apart = {buffers_.x, buffers_.values}});
    hold_homes(buffers_.home_x, layout_.x_homes());
}

void PublishedEmitter::add_result() {
    buffers_.result = graph_.add_buffer({.name = "result", .zeroed = true});
    hold_homes(buffers_.result, layout_.c_homes());
}

void PublishedEmitter::hold_homes(graph::BufferId buffer, const Linear& homes) {
    for (std::int64_t i = 0; i < homes.used(); ++i) {
        graph_.hold(buffer, homes.tile(i), homes.span(i).size() * element_);
    }
}

void PublishedEmitter::add_buffers() {
    using graph::Where;
    constexpr Bytes kBehindArrays = 128; // that codelets may read behind their arrays
    const std::int64_t block = layout_.block();
    PublishedBuffers& made = buffers_;
    made.values = graph_.add_buffer({.name = "values", .read_beyond = kBehindArrays});
    made.meta = graph_.add_buffer({.name = "meta", .kind = program::SegmentKind::Metadata});
    made.out = graph_.add_buffer({.name = "partials",
                                  .where = block == 1 ? Where::Any : Where::Region1,
                                  .read_beyond = kBehindArrays,
                                  .zeroed = block > 1 && !layout_.types().zeroes});
    made.x = graph_.add_buffer({.name = "x",
                                .read_beyond = kBehindArrays,
                                .padded = pads_columns(),
                                .apart = {made.out, made.values, made.meta}});
    add_home_x();
    made.home_values = graph_.add_buffer(
        {.name = "home of values", .padded = block == 1, .apart = {made.x, made.values}});
    add_result();
    made.slots = graph_.add_buffer({.name = "slices", .read_beyond = kBehindArrays});
    made.sums = graph_.add_buffer({.name = "sums", .apart = {made.slots}});
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
                                           : std::ssize(mine.blocks) * layout_.block_bytes());
        graph_.hold(made.x, tile, std::ssize(mine.columns) * layout_.line_bytes(mine.part));
        graph_.hold(made.out, tile, std::ssize(mine.rows) * layout_.partial_bytes(mine.part));
    }
}

} // namespace tessera::spmm
