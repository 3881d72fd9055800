// SPDX-License-Identifier: MIT
#include "kernels/graph/rows.h"

#include <catch2/catch.hpp>

namespace {

using namespace tessera;
using graph::Graph;
using graph::Piece;
using graph::RowBlock;

graph::Tensor matrix(ElementType type, std::int64_t rows, std::int64_t columns) {
    return {.name = "x", .type = type, .shape = {rows, columns}};
}

/// What a tile holds of a tensor's buffer.
Bytes held(const Graph& graph, graph::TensorId tensor, TileId tile) {
    const auto& pieces = graph.tensors.at(tensor.index).pieces;
    for (const auto& one : graph.buffers.at(pieces.front().place.buffer.index).held) {
        if (one.tile == tile) {
            return one.bytes;
        }
    }
    return 0;
}

/// The blocks of a 6 x 4 FP16 matrix of these pieces, which stand in one buffer.
std::optional<std::vector<RowBlock>> blocks_of(const std::vector<Piece>& pieces,
                                               Bytes alignment = 8) {
    Graph graph("test");
    static_cast<void>(graph.add_buffer({.name = "x"}));
    auto x = matrix(ElementType::F16, 6, 4);
    x.pieces = pieces;
    const auto tensor = graph.add_tensor(std::move(x));
    return graph::rows_of(graph, tensor, alignment, {0, 4});
}

} // namespace

TEST_CASE("rows are dealt evenly and padded", "[kernels][rows]") {
    Graph graph("test");
    const auto x = graph::add_rows(graph, matrix(ElementType::F16, 7, 5), {3, 3});
    REQUIRE(x.blocks.size() == 3);
    CHECK(x.blocks[0].tile == 3);
    CHECK(x.blocks[0].rows == 3);
    CHECK(x.blocks[1].first_row == 3);
    CHECK(x.blocks[2].rows == 2);
    CHECK(x.blocks[2].step == 16);
    CHECK(held(graph, x.tensor, 3) == 48);
    CHECK(held(graph, x.tensor, 5) == 32);
    CHECK_FALSE(graph.buffers[0].zeroed);

    const auto few = graph::add_rows(graph, matrix(ElementType::F32, 2, 2), {0, 5});
    CHECK(few.blocks.size() == 2);
    CHECK(held(graph, few.tensor, 1) == 8);
}

TEST_CASE("a tensor of one size stands beside rows, its elements together", "[kernels][rows]") {
    Graph graph("test");
    const auto x = graph::add_rows(graph, matrix(ElementType::F16, 7, 5), {0, 2});
    const auto y = graph::add_rows_beside(
        graph, {.name = "y", .type = ElementType::F16, .shape = {7}}, x.blocks);
    REQUIRE(y.blocks.size() == 2);
    CHECK(y.blocks[0].step == 2);
    CHECK(held(graph, y.tensor, 0) == 8); // four elements
    CHECK(held(graph, y.tensor, 1) == 8); // three and padding
    CHECK(graph.buffers[1].zeroed);
    const auto& piece = graph.tensors[y.tensor.index].pieces[1];
    CHECK(piece.host_offset == 4);
    CHECK(piece.dims[0].count == 3);
    CHECK(piece.dims[0].host_stride == 1);
}

TEST_CASE("rows that were added are found where they are", "[kernels][rows]") {
    for (const std::int64_t columns : {1, 2, 5, 8}) {
        for (const ElementType type : {ElementType::F16, ElementType::F32}) {
            CAPTURE(columns);
            Graph graph("test");
            const auto x = graph::add_rows(graph, matrix(type, 7, columns), {1, 3});
            const auto found = graph::rows_of(graph, x.tensor, 8, {0, 4});
            REQUIRE(found);
            REQUIRE(found->size() == x.blocks.size());
            for (std::size_t i = 0; i < found->size(); ++i) {
                CHECK((*found)[i].tile == x.blocks[i].tile);
                CHECK((*found)[i].place == x.blocks[i].place);
                CHECK((*found)[i].first_row == x.blocks[i].first_row);
                CHECK((*found)[i].rows == x.blocks[i].rows);
                CHECK((*found)[i].row_stride == 1);
                CHECK((*found)[i].step == x.blocks[i].step);
            }
            CHECK_FALSE(graph::rows_of(graph, x.tensor, 8, {2, 4}));
            CHECK_FALSE(graph::rows_of(graph, x.tensor, 32, {0, 4}));
        }
    }
}

TEST_CASE("runs of whole rows are rows, others are not", "[kernels][rows]") {
    const auto all = blocks_of({{0, {}, 0, {{24, 1, 2}}}});
    REQUIRE(all);
    CHECK(all->size() == 1);
    CHECK(all->front().rows == 6);
    CHECK(all->front().step == 8);

    CHECK(blocks_of({{0, {}, 0, {{8, 1, 2}}}, {1, {}, 8, {{16, 1, 2}}}}));
    CHECK_FALSE(blocks_of({{0, {}, 0, {{10, 1, 2}}}, {1, {}, 10, {{14, 1, 2}}}}));
    CHECK_FALSE(blocks_of({{0, {}, 0, {{20, 1, 2}}}}));            // a row is missing
    CHECK_FALSE(blocks_of({{0, {}, 0, {{6, 4, 8}, {4, 1, 4}}}}));  // gaps in a row
    CHECK_FALSE(blocks_of({{0, {}, 0, {{4, 1, 12}, {6, 4, 2}}}})); // columns
    CHECK_FALSE(blocks_of({{0, {}, 0, {{6, 4, 12}, {4, 1, 2}}}})); // every other at 4
    CHECK(blocks_of({{0, {}, 0, {{6, 4, 12}, {4, 1, 2}}}}, 4));
    CHECK_FALSE(blocks_of({{0, {{}, 2}, 0, {{24, 1, 2}}}}, 4));
}

TEST_CASE("rows in turn and rows in groups are found", "[kernels][rows]") {
    const auto in_turn = blocks_of(
        {{0, {}, 0, {{3, 8, 16}, {4, 1, 2}}}, {1, {}, 4, {{3, 8, 16}, {2, 2, 4}, {2, 1, 2}}}});
    REQUIRE(in_turn);
    CHECK((*in_turn)[1].first_row == 1);
    CHECK((*in_turn)[1].rows == 3);
    CHECK((*in_turn)[1].row_stride == 2);
    CHECK((*in_turn)[1].step == 16);

    const auto groups = blocks_of({{0, {}, 0, {{2, 12, 100 * 8}, {3, 4, 8}, {4, 1, 2}}}});
    REQUIRE(groups);
    REQUIRE(groups->size() == 2);
    CHECK((*groups)[1].first_row == 3);
    CHECK((*groups)[1].place.offset == 800);
    CHECK((*groups)[1].rows == 3);
}

TEST_CASE("of rows at several places one is told", "[kernels][rows]") {
    const Piece all{0, {}, 0, {{24, 1, 2}}};
    const auto twice = blocks_of({all, {1, {}, 4, {{8, 1, 2}}}});
    REQUIRE(twice);
    CHECK(twice->size() == 1);
    CHECK_FALSE(blocks_of({{0, {}, 0, {{8, 1, 2}}}, all})); // some are new
}
