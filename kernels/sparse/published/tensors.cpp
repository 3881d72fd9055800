// SPDX-License-Identifier: MIT
#include "kernels/sparse/published/tensors.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tessera::spmm {
namespace {

/// Elements [at, last) of a block, at most to the end of their set; returns behind them.
std::int64_t add_rows_of_set(graph::Tensor& tensor, const PublishedLayout& layout, TileId tile,
                             graph::Place place, std::int64_t block, std::int64_t at,
                             std::int64_t last) {
    const std::int64_t high = layout.block();
    const std::int64_t wide = layout.types().set_inputs;
    const Bytes element = layout.types().element;
    const std::int64_t set_elements = high * wide;
    const std::int64_t end = std::min(last, (at / set_elements + 1) * set_elements);
    const std::int64_t set = at % (high * high) / set_elements;
    const std::int64_t row = at % set_elements / wide;
    graph::Piece piece;
    piece.tile = tile;
    piece.place = place;
    piece.host_offset = block * high * high + row * high + set * wide;
    piece.dims = {{(end - at) / wide, high, wide * element}, {wide, 1, element}};
    tensor.pieces.push_back(std::move(piece));
    return end;
}

/// Elements `span` of the blocks in `order`, runs of blocks that follow each other in the matrix
/// at once. Blocks that are wider than a weight set stand as [set][row][column of the set].
void add_values(graph::Tensor& tensor, const PublishedLayout& layout, TileId tile,
                graph::Place place, const std::vector<std::int64_t>& order, Span span) {
    const std::int64_t size = layout.block() * layout.block();
    const Bytes element = layout.types().element;
    for (std::int64_t at = span.first; at < span.last;) {
        const auto number = static_cast<std::size_t>(at / size);
        if (number >= order.size()) {
            return; // the rest of a word
        }
        if (layout.types().set_inputs < layout.block()) {
            at = add_rows_of_set(tensor, layout, tile, place + (at - span.first) * element,
                                 order[number], at, span.last);
            continue;
        }
        std::size_t last = number;
        while (last + 1 < order.size() && order[last + 1] == order[last] + 1) {
            ++last;
        }
        const std::int64_t end = std::min(span.last, static_cast<std::int64_t>(last + 1) * size);
        graph::Piece piece;
        piece.tile = tile;
        piece.place = place + (at - span.first) * element;
        piece.host_offset = order[number] * size + at % size;
        piece.dims = {{end - at, 1, element}};
        tensor.pieces.push_back(std::move(piece));
        at = end;
    }
}

/// [block of rows][column][b] of a tensor {rows, n} as it lies over the tiles.
void add_lines(graph::Tensor& tensor, const PublishedLayout& layout, const PassOf& pass,
               const Linear& homes, graph::BufferId buffer, std::int64_t rows) {
    const std::int64_t block = layout.block();
    const Bytes element = layout.types().element;
    const std::int64_t line_elements = layout.padded_columns() * block;
    for (std::int64_t i = 0; i < homes.used(); ++i) {
        const Span span = homes.span(i);
        for (std::int64_t at = span.first; at < span.last;) {
            const std::int64_t line = at / line_elements;
            const std::int64_t column = at / block - line * layout.padded_columns();
            // whole columns of the line, or what there is of one
            const std::int64_t row = at % block;
            const std::int64_t here = std::min(span.last, (line + 1) * line_elements) - at;
            const bool whole = row == 0 && here >= block;
            const std::int64_t length = whole ? here / block * block : std::min(here, block - row);
            const std::int64_t columns =
                std::min(whole ? length / block : 1, pass.columns - column);
            const std::int64_t rows_here =
                std::min(whole ? block : length, rows - line * block - row);
            if (columns > 0 && rows_here > 0) {
                graph::Piece piece;
                piece.tile = homes.tile(i);
                piece.place = graph::Place{buffer, (at - span.first) * element};
                piece.host_offset = (line * block + row) * layout.n() + pass.first + column;
                piece.dims = {{columns, 1, block * element}, {rows_here, layout.n(), element}};
                tensor.pieces.push_back(std::move(piece));
            }
            at += length;
        }
    }
}

} // namespace

void add_tensors(graph::Graph& graph, const PublishedLayout& layout,
                 const PublishedBuffers& buffers, const PassOf& pass) {
    const workload::SparsePattern& matrix = layout.matrix();
    const ElementType type = layout.types().data;
    const std::int64_t block = layout.block();
    graph::Tensor a{.name = "a", .type = type, .shape = {matrix.blocks(), block, block}};
    a.given = true;
    if (layout.moves_blocks()) {
        const Linear& homes = layout.value_homes();
        for (std::int64_t i = 0; i < homes.used(); ++i) {
            add_values(a, layout, homes.tile(i), {buffers.home_values}, layout.in_order(),
                       homes.span(i));
        }
    } else {
        for (TileId tile = 0; tile < layout.tiles().size(); ++tile) {
            const std::vector<std::int64_t>& blocks = layout.tiles()[tile].blocks;
            add_values(a, layout, tile, {buffers.values}, blocks,
                       {0, count_of(blocks) * block * block});
        }
    }
    graph.add_tensor(std::move(a));
    graph::Tensor x{.name = "b", .type = type, .shape = {matrix.columns, layout.n()}};
    x.given = true;
    add_lines(x, layout, pass, layout.x_homes(), buffers.home_x, matrix.columns);
    graph.add_tensor(std::move(x));
    graph::Tensor c{.name = "c", .type = type, .shape = {matrix.rows, layout.n()}};
    c.wanted = true;
    add_lines(c, layout, pass, layout.c_homes(), buffers.result, matrix.rows);
    graph.add_tensor(std::move(c));
}

} // namespace tessera::spmm
