// SPDX-License-Identifier: MIT
#include "kernels/sparse/published/emitter.h"

#include <algorithm>

namespace tessera::spmm {

using published::Run;

/// Elements `span` of the blocks in `order`, runs of blocks that follow each other in the matrix
/// at once. Blocks that are wider than a weight set stand as [set][row][column of the set].
void PublishedEmitter::add_values(graph::Tensor& tensor, TileId tile, graph::Place place,
                                  const std::vector<std::int64_t>& order, Run span) const {
    const std::int64_t high = layout_.block();
    const std::int64_t size = high * high;
    const std::int64_t wide = layout_.types().set_inputs;
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
        graph::given_tensor("a", layout_.types().data, {layout_.matrix().blocks(), block, block});
    if (layout_.moves_blocks()) {
        const Linear& homes = layout_.value_homes();
        for (std::int64_t i = 0; i < homes.used(); ++i) {
            add_values(tensor, homes.tile(i), {buffers_.home_values}, layout_.in_order(),
                       homes.span(i));
        }
        return tensor;
    }
    for (TileId tile = 0; tile < layout_.tiles().size(); ++tile) {
        const std::vector<std::int64_t>& blocks = layout_.tiles()[tile].blocks;
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
    const std::int64_t line_elements = layout_.padded_columns() * block;
    for (std::int64_t i = 0; i < homes.used(); ++i) {
        const Run span = homes.span(i);
        for (std::int64_t at = span.first; at < span.last;) {
            const std::int64_t line = at / line_elements;
            const std::int64_t column = at / block - line * layout_.padded_columns();
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
                     (line * block + row) * layout_.n() + columns_.first + column,
                     {{columns, 1, block * element_}, {rows_here, layout_.n(), element_}}});
            }
            at += length;
        }
    }
}

} // namespace tessera::spmm
