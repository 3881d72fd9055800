// SPDX-License-Identifier: MIT
#include "kernels/graph/blocks.h"
#include "kernels/graph/cells.h"
#include "kernels/workload/random.h"

#include <catch2/catch.hpp>

#include <map>

namespace {

using namespace tessera;
using graph::Block;
using graph::Tensor;

Tensor matrix(std::int64_t rows, std::int64_t columns) {
    return {.name = "m", .type = ElementType::F16, .shape = {rows, columns}};
}

/// Element -> place, which is one of its own.
using Places = std::map<std::int64_t, Bytes>;

Places places(const std::vector<Block>& blocks, std::int64_t columns) {
    Places found;
    for (const Block& block : blocks) {
        CHECK(block.first_column + block.columns <= columns);
        for (std::int64_t r = 0; r < block.rows; ++r) {
            for (std::int64_t c = 0; c < block.columns; ++c) {
                found[(block.first_row + r) * columns + block.first_column + c] =
                    block.place.offset + r * block.row_stride + 2 * c;
            }
        }
    }
    return found;
}

Places places(const graph::Piece& piece) {
    Places found{{piece.host_offset, piece.place.offset}};
    for (const program::PieceDim& dim : piece.dims) {
        Places more;
        for (const auto& [host, at] : found) {
            for (std::int64_t i = 0; i < dim.count; ++i) {
                more[host + i * dim.host_stride] = at + i * dim.tile_stride;
            }
        }
        found = std::move(more);
    }
    return found;
}

} // namespace

TEST_CASE("cells are a block for each group of columns", "[kernels]") {
    Tensor tensor = matrix(10, 37);
    graph::add_cells(tensor, 3, {}, {.rows = 10, .host_inner = 37, .host_row_stride = 37}, 0, 30);
    const auto blocks = graph::blocks_of(tensor);
    REQUIRE(blocks);
    REQUIRE(blocks->size() == 3);
    const Block& last = blocks->back();
    CHECK(last.tile == 3);
    CHECK(last.place.offset == 2 * 320);
    CHECK(last.row_stride == 32);
    CHECK(last.rows == 10);
    CHECK(last.first_column == 32);
    CHECK(last.columns == 5);
    Places all;
    for (const graph::Piece& piece : tensor.pieces) {
        all.merge(places(piece));
    }
    CHECK(places(*blocks, 37) == all);
}

TEST_CASE("a run over several rows is its rows, the first and last perhaps in part", "[kernels]") {
    const workload::CounterRandom random(1, 0);
    std::uint64_t index = 0;
    for (int turn = 0; turn < 200; ++turn) {
        const auto columns = static_cast<std::int64_t>(1 + random.below(9, index++));
        const auto first = static_cast<std::int64_t>(random.below(30, index++));
        const auto elements = static_cast<std::int64_t>(1 + random.below(40, index++));
        Tensor tensor = matrix(70, columns);
        tensor.pieces.push_back(graph::run_of(0, {{}, 6}, first, elements, ElementType::F16));
        CAPTURE(columns, first, elements);
        const auto blocks = graph::blocks_of(tensor);
        REQUIRE(blocks);
        CHECK(blocks->size() <= 3);
        CHECK(places(*blocks, columns) == places(tensor.pieces[0]));
    }
}

TEST_CASE("blocks are of rows in any order of dimensions, not of columns", "[kernels]") {
    Tensor rows = matrix(12, 20);
    // rows 2, 3, 6, 7, 10, 11 of columns 4..8 and 12..16
    rows.pieces.push_back({0, {{}, 8}, 44, {{5, 1, 2}, {2, 8, 1000}, {3, 80, 64}, {2, 20, 16}}});
    const auto blocks = graph::blocks_of(rows);
    REQUIRE(blocks);
    CHECK(blocks->size() == 6);
    CHECK(places(*blocks, 20) == places(rows.pieces[0]));

    Tensor columns = matrix(12, 20);
    columns.pieces.push_back({0, {}, 0, {{20, 1, 24}, {12, 20, 2}}});
    CHECK_FALSE(graph::blocks_of(columns));
}
