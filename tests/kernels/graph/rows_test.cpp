// SPDX-License-Identifier: MIT
#include "kernels/graph/rows.h"
#include "kernels/workload/random.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

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
    // some are new and all are there in the end
    CHECK_FALSE(
        blocks_of({{0, {}, 0, {{16, 1, 2}}}, {1, {}, 8, {{16, 1, 2}}}, {2, {}, 16, {{8, 1, 2}}}}));
    CHECK_FALSE(blocks_of({all, {1, {}, 2, {{4, 1, 2}}}})); // parts of two rows
    CHECK_FALSE(blocks_of({all, {1, {}, 4, {{2, 1, 2}}}})); // half a row
    // runs as long as a row, of which every other one goes over the end of its row
    CHECK_FALSE(blocks_of({all, {1, {}, 0, {{3, 6, 16}, {4, 1, 2}}}}));
    CHECK(blocks_of({all, {1, {}, 0, {{3, 8, 16}, {4, 1, 2}}}}));
    // rows from the last to the first
    CHECK_FALSE(blocks_of({{0, {}, 20, {{6, -4, 8}, {4, 1, 2}}}}));
}

TEST_CASE(
    "every element of a matrix that is dealt stands in its row, the first tiles have one more",
    "[kernels][rows]") {
    for (const ElementType type : {ElementType::Bool, ElementType::F16, ElementType::F32}) {
        for (std::int64_t tiles = 1; tiles <= 4; ++tiles) {
            for (std::int64_t rows = 0; rows <= 9; ++rows) {
                for (std::int64_t columns = 0; columns <= 9; ++columns) { // 0: of one size
                    CAPTURE(tiles, rows, columns);
                    Graph graph("test");
                    graph::Tensor wanted{.name = "x", .type = type, .shape = {rows}};
                    if (columns > 0) {
                        wanted.shape.push_back(columns);
                    }
                    const auto x = graph::add_rows(graph, std::move(wanted), {5, tiles});
                    const Bytes element = bytes_of(type);
                    const Bytes step = columns > 0 ? (columns * element + 7) / 8 * 8 : element;
                    bool padded = false;
                    std::int64_t next = 0;
                    for (std::size_t i = 0; i < x.blocks.size(); ++i) {
                        const RowBlock& block = x.blocks[i];
                        const auto number = static_cast<std::int64_t>(i);
                        CHECK(block.tile == 5 + number);
                        CHECK(block.rows == rows / tiles + (number < rows % tiles ? 1 : 0));
                        CHECK(block.first_row == next);
                        CHECK(block.step == step);
                        CHECK(block.row_stride == 1);
                        CHECK(block.place == graph::Place{});
                        next += block.rows;
                        const Bytes bytes = (block.rows * step + 7) / 8 * 8;
                        padded = padded || bytes != block.rows * step;
                        CHECK(held(graph, x.tensor, block.tile) == bytes);
                        const Piece& piece = graph.tensors[x.tensor.index].pieces.at(i);
                        CHECK(piece.tile == block.tile);
                        CHECK(piece.host_offset ==
                              block.first_row * std::max<std::int64_t>(1, columns));
                        CHECK(piece.dims.size() == (columns > 1 ? 2U : 1U));
                        CHECK(piece.dims[0].count == block.rows);
                        CHECK(piece.dims[0].host_stride == std::max<std::int64_t>(1, columns));
                        CHECK(piece.dims[0].tile_stride == step);
                        if (columns > 1) {
                            CHECK(piece.dims[1].count == columns);
                            CHECK(piece.dims[1].host_stride == 1);
                            CHECK(piece.dims[1].tile_stride == element);
                        }
                    }
                    CHECK(next == rows);
                    CHECK(static_cast<std::int64_t>(x.blocks.size()) == std::min(rows, tiles));
                    CHECK(graph.buffers[0].zeroed == padded);
                }
            }
        }
    }
}

TEST_CASE("blocks of one tile stand behind each other", "[kernels][rows]") {
    Graph graph("test");
    const std::vector<RowBlock> beside{
        {2, {}, 0, 3, 1, 0}, {1, {}, 3, 2, 1, 0}, {2, {}, 5, 1, 1, 0}, {2, {}, 6, 2, 1, 0}};
    const auto x = graph::add_rows_beside(graph, matrix(ElementType::F16, 8, 5), beside);
    std::vector<Bytes> offsets;
    for (const RowBlock& block : x.blocks) {
        offsets.push_back(block.place.offset);
    }
    CHECK(offsets == std::vector<Bytes>{0, 0, 48, 64});
    CHECK(held(graph, x.tensor, 2) == 96);
    CHECK(held(graph, x.tensor, 1) == 32);
}

TEST_CASE("rows are found wherever they stand whole and aligned", "[kernels][rows]") {
    int found_ones = 0;
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
        CAPTURE(seed);
        const workload::CounterRandom random(seed, 15);
        std::uint64_t drawn = 0;
        const auto below = [&](std::int64_t bound) {
            return static_cast<std::int64_t>(
                random.below(static_cast<std::uint64_t>(bound), drawn++));
        };
        const std::int64_t columns = 1 + below(5);
        const Bytes row_bytes = 2 * columns;
        const Bytes alignment = Bytes{4} << below(2);
        Graph graph("test");
        static_cast<void>(
            graph.add_buffer({.name = "x", .alignment = below(12) == 0 ? alignment / 2 : 16}));
        std::vector<Piece> pieces;
        bool legal = graph.buffers[0].alignment % alignment == 0;
        std::int64_t rows = 0;
        std::map<std::int64_t, std::pair<TileId, Bytes>> expected; // by row
        for (std::int64_t left = 1 + below(4); left > 0; --left) {
            // outer x inner rows, those of one round of the outer loop beside each other, or in turn
            const std::int64_t outer = 1 + below(3);
            const std::int64_t inner = 1 + below(4);
            const bool in_turn = below(2) == 0;
            const auto some_step = [&](Bytes least) {
                return below(15) == 0
                           ? least + 2
                           : (least + alignment - 1) / alignment * alignment + alignment * below(2);
            };
            const Bytes step = below(4) == 0 ? row_bytes : some_step(row_bytes);
            const Bytes far = some_step(inner * step);
            const TileId tile = static_cast<TileId>(2 + below(3) + (below(15) == 0 ? 1 : 0));
            const Bytes begin = alignment * below(9) + (below(15) == 0 ? 2 : 0);
            std::vector<program::PieceDim> dims{{outer, (in_turn ? 1 : inner) * columns, far},
                                                {inner, (in_turn ? outer : 1) * columns, step},
                                                {columns, 1, 2}};
            std::rotate(dims.begin(), dims.begin() + below(3), dims.end());
            const bool missing = below(25) == 0;
            if (below(20) == 0) {
                dims.push_back({0, 1, 2}); // no elements
            } else if (!missing) {
                pieces.push_back({tile, {{}, begin}, rows * columns, dims});
            }
            const bool there = !missing && dims.size() == 3;
            for (std::int64_t i = 0; i < outer; ++i) {
                for (std::int64_t k = 0; k < inner; ++k) {
                    const std::int64_t row = rows + (in_turn ? i + k * outer : i * inner + k);
                    const Bytes at = begin + i * far + k * step;
                    legal = legal && there && tile >= 2 && tile < 5 && at % alignment == 0;
                    expected[row] = {tile, at};
                }
            }
            if (dims.size() == 4) {
                pieces.push_back({tile, {{}, begin}, rows * columns, dims});
            }
            rows += outer * inner;
        }
        auto x = matrix(ElementType::F16, rows, columns);
        x.pieces = pieces;
        const auto found = graph::rows_of(graph, graph.add_tensor(std::move(x)), alignment, {2, 3});
        REQUIRE(found.has_value() == legal);
        if (!found) {
            continue;
        }
        ++found_ones;
        std::map<std::int64_t, std::pair<TileId, Bytes>> told;
        for (const RowBlock& block : *found) {
            for (std::int64_t i = 0; i < block.rows; ++i) {
                REQUIRE(told.emplace(block.first_row + i * block.row_stride,
                                     std::pair(block.tile, block.place.offset + i * block.step))
                            .second);
            }
        }
        REQUIRE(told == expected);
    }
    CHECK(found_ones > 300);
    CHECK(found_ones < 1200);
}

TEST_CASE("a matrix is taken where it stands in rows, or added", "[kernels][rows]") {
    for (const TileId first : {0, 1}) {
        Graph graph("test");
        const auto offered = graph::add_rows(graph, matrix(ElementType::F16, 6, 4), {0, 2});
        const auto taken =
            graph::in_rows(graph, offered.tensor, matrix(ElementType::F16, 6, 4), 8, {first, 2});
        CHECK((taken.tensor == offered.tensor) == (first == 0));
        CHECK(graph.tensors.size() == (first == 0 ? 1U : 2U));
        CHECK(taken.blocks.size() == 2);
        CHECK(taken.blocks[0].tile == first);
    }
    Graph graph("test");
    CHECK(graph::in_rows(graph, {}, matrix(ElementType::F16, 6, 4), 8, {3, 2}).blocks[1].tile == 4);
}
