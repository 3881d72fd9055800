// SPDX-License-Identifier: MIT
#include "kernels/graph/places.h"
#include "kernels/graph/unit_rows.h"

#include <catch2/catch.hpp>

#include <vector>

namespace {

using namespace tessera;
using graph::Graph;
using graph::Tensor;
using graph::TensorId;

Tensor tensor_with(std::vector<graph::Piece> pieces) {
    return {.name = "t", .type = ElementType::F16, .shape = {100}, .pieces = std::move(pieces)};
}

} // namespace

TEST_CASE("rows are the units that have elements", "[kernels]") {
    // 7 elements at the begin of every 32 bytes, in two pieces, one of them from its end to its
    // begin
    const auto cells = graph::unit_rows_of(tensor_with(
        {{1, {{}, 32}, 0, {{4, 7, 32}, {7, 1, 2}}}, {1, {{}, 160 + 12}, 28, {{7, 1, -2}}}}));
    REQUIRE(cells.size() == 1);
    CHECK(cells[0].tile == 1);
    CHECK(cells[0].first.offset == 32);
    CHECK(cells[0].rows == 5);
    CHECK(cells[0].units == 2);
    CHECK(cells[0].stride == 32);
    REQUIRE(cells[0].runs.size() == 5);
    CHECK(cells[0].runs[4].place.offset == 160);
    CHECK(cells[0].runs[4].bytes == 14);

    // the first and the last element of a unit, and a neighbour
    const auto few = graph::unit_rows_of(tensor_with(
        {{0, {{}, 8}, 0, {}}, {0, {{}, 14}, 1, {}}, {0, {{}, 16}, 2, {}}, {0, {{}, 40}, 3, {}}}));
    REQUIRE(few.size() == 2);
    CHECK(few[0].units == 2);
    CHECK(few[0].runs.size() == 2);
    CHECK(few[1].first.offset == 40);

    // a column of each row, and so all of memory
    const auto columns = graph::unit_rows_of(tensor_with({{0, {}, 0, {{10, 1, 20}, {10, 10, 2}}}}));
    REQUIRE(columns.size() == 1);
    CHECK(columns[0].rows == 1);
    CHECK(columns[0].units == 25);
    CHECK(columns[0].runs.size() == 1);
}

TEST_CASE("runs are of whole grains on all tiles", "[kernels]") {
    Graph graph("test");
    const auto pieces = [&](std::int64_t elements) {
        const TensorId made = graph::add_runs(
            graph, {4, 3}, {.name = "t", .type = ElementType::F16, .shape = {elements}}, 32);
        return graph.tensors.at(made.index).pieces;
    };
    const auto runs = pieces(85); // 6 grains, the last of 5 elements
    REQUIRE(runs.size() == 3);
    CHECK(runs[1].tile == 5);
    CHECK(runs[1].host_offset == 32);
    CHECK(runs[1].dims[0].count == 32);
    CHECK(runs[2].dims[0].count == 21);
    CHECK(graph.buffers.back().held.back().bytes == 48);
    CHECK(pieces(1).size() == 1);
}

TEST_CASE("tensors are alike whose elements have the same places", "[kernels]") {
    Graph graph("test");
    const auto a = graph.add_buffer({.name = "a"});
    const auto b = graph.add_buffer({.name = "b"});
    Tensor model = tensor_with({{0, {a, 6}, 0, {{50, 1, 2}}}, {2, {b, 0}, 50, {{50, 1, 2}}}});
    model.given = true;
    const TensorId made = graph.add_tensor(model);
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        const TensorId other = graph::add_alike(graph, "other", type, made);
        const Tensor& tensor = graph.tensors[other.index];
        const auto pairs = graph::alike(graph.tensors[made.index], tensor);
        REQUIRE(pairs);
        CHECK(pairs->at(a.index) == tensor.pieces[0].place.buffer);
        CHECK(pairs->at(b.index) == tensor.pieces[1].place.buffer);
        CHECK_FALSE(tensor.given);
        const graph::Buffer& buffer = graph.buffers[tensor.pieces[0].place.buffer.index];
        CHECK(buffer.held.at(0).bytes == 112 * bytes_of(type) / 2);
    }
    const auto changed = [&](auto change) {
        Tensor other = model;
        change(other.pieces[1]);
        return graph::alike(model, other).has_value();
    };
    CHECK(changed([](graph::Piece&) {}));
    CHECK_FALSE(changed([](graph::Piece& piece) { piece.tile = 1; }));
    CHECK_FALSE(changed([](graph::Piece& piece) { piece.place.offset = 2; }));
    CHECK_FALSE(changed([](graph::Piece& piece) { piece.host_offset = 49; }));
    CHECK_FALSE(changed([](graph::Piece& piece) { piece.dims[0].count = 49; }));
    Tensor fewer = model;
    fewer.pieces.pop_back();
    CHECK_FALSE(graph::alike(model, fewer));
    CHECK(graph::is_on({0, 3}, model));
    CHECK_FALSE(graph::is_on({0, 2}, model));
    CHECK_FALSE(graph::is_on({1, 2}, model));
}
