// SPDX-License-Identifier: MIT
// The example of docs/kernels.md.
#include "kernels/lower/lower.h"
#include "tests/support/run_program.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace tessera;

// example begins
/// "total" = the sum of "x". Every tile sums up its part, tile 0 what the others send it.
lower::Lowered plan_total(const spec::MachineSpec& machine, std::int64_t elements_of_tile) {
    const std::int64_t tiles = machine.chip.tiles;
    const Bytes part = elements_of_tile * 4;
    graph::Graph graph("total");
    graph.codelets = {"sum"}; // kernels/codelets/sum.S

    const auto x = graph.add_buffer({.name = "x"});
    const auto sum = graph.add_buffer({.name = "sum"});
    const auto sums = graph.add_buffer({.name = "sums"}); // tile 0 alone
    graph.hold(sums, 0, tiles * 4);
    auto operand = graph::array_tensor("x", ElementType::F32, tiles * elements_of_tile);
    operand.given = true;
    auto result = graph::array_tensor("total", ElementType::F32, 1);
    result.wanted = true;
    result.pieces.push_back(graph::run_of(0, {sum}, 0, 1, ElementType::F32));

    const auto parts = graph.add_compute_set({"sum up parts", program::Role::Work, "total"});
    const auto bring = graph.add_exchange({"bring sums", program::Role::Reduce, "total"});
    for (TileId tile = 0; tile < tiles; ++tile) {
        graph.hold(x, tile, part);
        graph.hold(sum, tile, 4);
        operand.pieces.push_back(
            graph::run_of(tile, {x}, tile * elements_of_tile, elements_of_tile, ElementType::F32));
        // on tile 0 straight to where the others' come
        const graph::Place out = tile == 0 ? graph::Place{sums} : graph::Place{sum};
        graph.add_vertex(parts, tile, "sum_f32", program::VertexKind::Worker,
                         {graph::read({x}, part), graph::write(out, 4),
                          graph::word(elements_of_tile), graph::word(0)});
        if (tile != 0) {
            graph.add_message(bring, tile, out, 4, {0, {sums, tile * Bytes{4}}});
        }
    }
    graph.add_tensor(operand);
    graph.add_tensor(result);

    const auto total = graph.add_compute_set({"sum up sums", program::Role::Reduce, "total"});
    graph.add_vertex(total, 0, "sum_f32", program::VertexKind::Worker,
                     {graph::read({sums}, tiles * 4), graph::write({sum}, 4), graph::word(tiles),
                      graph::word(0)});
    graph.control = graph::sequence({graph::run(parts), graph::run(bring), graph::run(total)});
    return lower::lower(machine, std::move(graph));
}
// example ends

} // namespace

TEST_CASE("the example of how a kernel is written sums up", "[kernels]") {
    constexpr std::int64_t kElements = 10;
    for (const std::int64_t tiles : {1, 2, 7}) {
        spec::MachineSpec machine;
        machine.chip.tiles = tiles;
        const auto program = plan_total(machine, kElements).program;
        CHECK(test::faults_of(machine, program).empty());
        CHECK(program.exchanges.size() == (tiles == 1 ? 0 : 1)); // no message, no step

        std::vector<float> values(static_cast<std::size_t>(tiles * kElements));
        std::iota(values.begin(), values.end(), 1.0F);
        std::vector<std::byte> bytes(values.size() * sizeof(float));
        std::memcpy(bytes.data(), values.data(), bytes.size());
        const auto outcome = test::run_program(
            machine, program, std::map<std::string, std::vector<std::byte>>{{"x", bytes}});
        float total = 0;
        std::memcpy(&total, outcome.tensors.at("total").data(), sizeof total);
        const auto n = static_cast<float>(values.size());
        CHECK(total == n * (n + 1) / 2);
    }
}
