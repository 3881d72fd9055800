// SPDX-License-Identifier: MIT
#include "kernels/graph/places.h"
#include "kernels/graph/row_stack.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <vector>

namespace {

using namespace tessera;
using graph::BufferId;
using graph::Graph;
using graph::TensorId;

/// 30 elements of FP16 on tiles 1 and 2: 20 on the first, in two columns, and 10 on the second.
TensorId add_model(Graph& graph) {
    const BufferId buffer = graph.add_buffer({.name = "m"});
    graph.hold(buffer, 1, 40);
    graph.hold(buffer, 2, 24);
    return graph.add_tensor({.name = "m",
                             .type = ElementType::F16,
                             .shape = {30},
                             .pieces = {{1, {buffer}, 0, {{10, 2, 4}}},
                                        {1, {buffer, 2}, 1, {{10, 2, 4}}},
                                        {2, {buffer}, 20, {{10, 1, 2}}}}});
}

bool can_stack(std::int64_t elements, std::vector<graph::Piece> pieces) {
    Graph graph("test");
    const BufferId buffer = graph.add_buffer({.name = "t"});
    for (TileId tile = 0; tile < 4; ++tile) {
        graph.hold(buffer, tile, 1000);
    }
    const TensorId tensor = graph.add_tensor(
        {.name = "t", .type = ElementType::F16, .shape = {elements}, .pieces = std::move(pieces)});
    return graph::can_stack(graph, tensor, 4);
}

} // namespace

TEST_CASE("rows of a stack stand behind each other, each as the model", "[kernels]") {
    Graph graph("test");
    const TensorId model = add_model(graph);
    const auto stack = graph::add_row_stack(graph, "rows", 3, model);
    const graph::Tensor& rows = graph.tensors.at(stack.rows.index);
    CHECK(rows.shape == std::vector<std::int64_t>{3, 30});
    for (std::int64_t row = 0; row < 3; ++row) {
        for (std::int64_t element = 0; element < 30; ++element) {
            const auto in_model = graph::place_of(graph.tensors.at(model.index), element);
            const auto in_rows = graph::place_of(rows, 30 * row + element);
            REQUIRE((in_model && in_rows));
            CHECK(in_rows->tile == in_model->tile);
            const Bytes slot = in_model->tile == 1 ? 40 : 24; // 20 bytes are 3 words of 8
            CHECK(in_rows->offset == in_model->offset + row * slot);
        }
    }
}

TEST_CASE("a row of a stack is moved to where its round has it", "[kernels]") {
    const auto machine = spec::MachineSpec{};
    Graph graph("test");
    const TensorId model = add_model(graph);
    const auto stack = graph::add_row_stack(graph, "rows", 3, model);
    const BufferId round = graph.add_round("repeat");
    const auto step = graph::load_row(graph, machine, stack, model, {2, -1, round}, "owner");
    const auto& vertices = graph.compute_sets.at(step.index).vertices;
    REQUIRE(vertices.size() == 2);
    const auto fields = graph.fields_of(vertices[0].fields);
    CHECK(graph.symbols.at(vertices[0].symbol) == "copy_row64");
    CHECK(fields[0].place.offset == 2 * 40);
    CHECK(fields[1].bytes == 40);
    CHECK(fields[2].place.buffer == round);
    CHECK(static_cast<std::int32_t>(fields[5].word) == -40);
    CHECK(fields[6].word == 0);
    CHECK(graph.symbols.at(vertices[1].symbol) == "copy_row32"); // of 20 bytes

    const auto store =
        graph::store_row(graph, machine, stack, model, {1, 0, std::nullopt}, "owner");
    const auto& plain = graph.compute_sets.at(store.index).vertices;
    CHECK(graph.symbols.at(plain[0].symbol) == "copy64");
    CHECK(graph.fields_of(plain[0].fields)[1].place.offset == 40);
    CHECK(graph.fields_of(plain[0].fields).back().access == graph::Access::WritePart);
}

TEST_CASE("a stack needs whole words, each element once, and even shares", "[kernels]") {
    const auto run = [](TileId tile, Bytes offset, std::int64_t first, std::int64_t count) {
        return graph::Piece{tile, {{}, offset}, first, {{count, 1, 2}}};
    };
    CHECK(can_stack(30, {run(0, 0, 0, 20), run(1, 0, 20, 10)}) == false); // 40 B of 60, in 4 tiles
    CHECK(can_stack(40, {run(0, 0, 0, 20), run(1, 0, 20, 20)}));
    CHECK_FALSE(can_stack(40, {run(0, 0, 0, 20), run(1, 0, 20, 19), run(2, 0, 39, 1)}));
    CHECK_FALSE(can_stack(40, {run(0, 8, 0, 20), run(1, 0, 20, 20)})); // something stands before
    CHECK_FALSE(can_stack(40, {run(0, 0, 0, 20), run(1, 0, 20, 20), run(2, 0, 0, 20)}));   // twice
    CHECK_FALSE(can_stack(40, {run(0, 0, 0, 10), run(0, 24, 10, 10), run(1, 0, 20, 20)})); // a gap
}
