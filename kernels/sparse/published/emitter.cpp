// SPDX-License-Identifier: MIT
#include "kernels/sparse/published/emitter.h"

#include "kernels/lower/placing.h"

#include <algorithm>
#include <utility>

namespace tessera::sparse {

using program::Role;

PublishedEmitter::PublishedEmitter(const PublishedLayout& layout, const std::string& name)
    : layout_(layout), element_(layout.types.element), emitted_{graph::Graph(name)},
      graph_(emitted_.graph) {}

EmittedPlan PublishedEmitter::run() {
    const workload::SparsePattern& matrix = layout_.matrix;
    const ElementType type = layout_.types.data;
    const std::int64_t n = layout_.n;
    b_ = graph::given_tensor("b", type, {matrix.columns, n});
    c_ = graph::wanted_tensor("c", type, {matrix.rows, n});
    graph_.codelets = layout_.types.codelets;
    for (; columns_.first < n; columns_.first = columns_.last) {
        columns_.last = std::min(n, columns_.first + layout_.width);
        add_pass();
    }
    graph_.control = graph::sequence(std::move(steps_));
    graph_.add_tensor(values_tensor());
    graph_.add_tensor(std::move(b_));
    graph_.add_tensor(std::move(c_));
    return std::move(emitted_);
}

void PublishedEmitter::add_pass() {
    const bool is_first = columns_.first == 0;
    if (is_first) {
        add_buffers();
        standing_ = {buffers_.result, buffers_.b, buffers_.out, buffers_.values};
    } else {
        add_home_b();
        add_result();
        standing_.insert(standing_.end(), {buffers_.home_b, buffers_.result});
    }
    const auto exchange = graph_.add_exchange({"bring", Role::Bring, kPublishedOwner});
    multiply_ =
        graph_.add_compute_set({"multiply", Role::Work, kPublishedOwner, "non-zeros", "row"});
    graph::Bringing bring{graph_, layout_.machine, exchange, multiply_};
    bring_b(bring);
    if (layout_.moves_blocks() && is_first) {
        bring_blocks(bring);
    }
    add_multiply(bring);
    graph::run_next(steps_, exchange);
    if (layout_.types.zeroes) {
        graph::run_next(steps_, add_zeros());
    }
    graph::run_next(steps_, multiply_);
    emitted_.reduce = add_rows(graph_, layout_, buffers_, steps_);
    add_lines(b_, layout_.b_homes, buffers_.home_b);
    add_lines(c_, layout_.c_homes, buffers_.result);
    lower::check_together(layout_.machine, graph_, standing_, "multiply");
}

void PublishedEmitter::add_home_b() {
    const bool pads = layout_.matrix.columns % layout_.block() != 0 || pads_columns();
    buffers_.home_b = graph_.add_buffer(
        {.name = "home of b", .padded = pads, .apart = {buffers_.b, buffers_.values}});
    hold_homes(buffers_.home_b, layout_.b_homes);
}

void PublishedEmitter::add_result() {
    buffers_.result = graph_.add_buffer({.name = "result", .zeroed = true});
    hold_homes(buffers_.result, layout_.c_homes);
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
                                  .zeroed = block > 1 && !layout_.types.zeroes});
    made.b = graph_.add_buffer({.name = "b",
                                .read_beyond = kBehindArrays,
                                .padded = pads_columns(),
                                .apart = {made.out, made.values, made.meta}});
    add_home_b();
    made.home_values = graph_.add_buffer(
        {.name = "home of values", .padded = block == 1, .apart = {made.b, made.values}});
    add_result();
    made.slots = graph_.add_buffer({.name = "slices", .read_beyond = kBehindArrays});
    made.sums = graph_.add_buffer({.name = "sums", .apart = {made.slots}});
    if (layout_.moves_blocks()) {
        hold_homes(made.home_values, layout_.value_homes);
    }
    for (TileId tile = 0; tile < layout_.tiles.size(); ++tile) {
        const TileBlocks& mine = layout_.tiles[tile];
        if (mine.blocks.empty()) {
            continue;
        }
        graph_.hold(made.values, tile,
                    layout_.moves_blocks() ? layout_.values_of(mine).size() * element_
                                           : std::ssize(mine.blocks) * layout_.block_bytes());
        graph_.hold(made.b, tile, std::ssize(mine.columns) * layout_.line_bytes(mine.part));
        graph_.hold(made.out, tile, std::ssize(mine.rows) * layout_.partial_bytes(mine.part));
    }
}

/// Elements `span` of the blocks in `order`, runs of blocks that follow each other in the matrix
/// at once. Blocks that are wider than a weight set stand as [set][row][column of the set].
void PublishedEmitter::add_values(graph::Tensor& tensor, TileId tile, graph::Place place,
                                  const std::vector<std::int64_t>& order, Range span) const {
    const std::int64_t high = layout_.block();
    const std::int64_t size = high * high;
    const std::int64_t wide = layout_.types.set_inputs;
    for (std::int64_t at = span.first; at < span.last;) {
        const auto number = static_cast<std::size_t>(at / size);
        if (number >= order.size()) {
            return; // the rest of a word
        }
        const graph::Place here = place + (at - span.first) * element_;
        std::int64_t end = 0;
        if (wide < high) { // at most to the end of a set
            const std::int64_t set_elements = high * wide;
            end = std::min(span.last, (at / set_elements + 1) * set_elements);
            const std::int64_t set = at % size / set_elements;
            const std::int64_t row = at % set_elements / wide;
            tensor.pieces.push_back(
                {tile,
                 here,
                 order[number] * size + row * high + set * wide,
                 {{(end - at) / wide, high, wide * element_}, {wide, 1, element_}}});
        } else {
            std::size_t last = number + 1;
            while (last < order.size() && order[last] == order[last - 1] + 1) {
                ++last;
            }
            end = std::min(span.last, static_cast<std::int64_t>(last) * size);
            tensor.pieces.push_back(
                {tile, here, order[number] * size + at % size, {{end - at, 1, element_}}});
        }
        at = end;
    }
}

graph::Tensor PublishedEmitter::values_tensor() const {
    const std::int64_t block = layout_.block();
    graph::Tensor tensor =
        graph::given_tensor("a", layout_.types.data, {layout_.matrix.blocks(), block, block});
    if (layout_.moves_blocks()) {
        const Linear& homes = layout_.value_homes;
        for (std::int64_t i = 0; i < homes.used(); ++i) {
            add_values(tensor, homes.tile(i), {buffers_.home_values}, layout_.in_order,
                       homes.span(i));
        }
        return tensor;
    }
    for (TileId tile = 0; tile < layout_.tiles.size(); ++tile) {
        const std::vector<std::int64_t>& blocks = layout_.tiles[tile].blocks;
        add_values(tensor, tile, {buffers_.values}, blocks,
                   {0, std::ssize(blocks) * block * block});
    }
    return tensor;
}

/// [block of rows][column][b] of a tensor's columns of this pass as they lie over the tiles.
void PublishedEmitter::add_lines(graph::Tensor& tensor, const Linear& homes,
                                 graph::BufferId buffer) const {
    const std::int64_t rows = tensor.shape.front();
    const std::int64_t block = layout_.block();
    const std::int64_t line_elements = layout_.padded_columns * block;
    for (std::int64_t i = 0; i < homes.used(); ++i) {
        const Range span = homes.span(i);
        for (std::int64_t at = span.first; at < span.last;) {
            const std::int64_t line = at / line_elements;
            const std::int64_t column = at / block - line * layout_.padded_columns;
            // whole columns of the line, or what there is of one
            const std::int64_t row = at % block;
            const std::int64_t here = std::min(span.last, (line + 1) * line_elements) - at;
            const bool whole = row == 0 && here >= block;
            const std::int64_t length = whole ? here / block * block : std::min(here, block - row);
            const std::int64_t columns =
                std::min(whole ? length / block : 1, columns_.size() - column);
            const std::int64_t rows_here =
                std::min(whole ? block : length, rows - line * block - row);
            if (columns > 0 && rows_here > 0) {
                tensor.pieces.push_back(
                    {homes.tile(i),
                     {buffer, (at - span.first) * element_},
                     (line * block + row) * layout_.n + columns_.first + column,
                     {{columns, 1, block * element_}, {rows_here, layout_.n, element_}}});
            }
            at += length;
        }
    }
}

} // namespace tessera::sparse
