// SPDX-License-Identifier: MIT
// A product that is added to a tensor takes a further step, as long as the tile with most to add.
#include "kernels/family/product.h"
#include "kernels/graph/places.h"
#include "kernels/graph/unit_rows.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <vector>

namespace {

using namespace tessera;

/// Predicts the cycles of a plan whose product has so many elements of 2 bytes on each tile.
Cycles predicted(const spec::MachineSpec& machine, const std::vector<std::int64_t>& elements,
                 workload::Accumulate accumulate) {
    family::Planned planned{.graph = graph::Graph("g"), .division = {}, .has_given_a = false};
    for (const char* name : {"a", "b"}) {
        planned.graph.add_tensor({.name = name, .type = ElementType::F16, .shape = {1}});
    }
    const auto buffer = planned.graph.add_buffer({.name = "c"});
    graph::Tensor c{.name = "c", .type = ElementType::F16, .shape = {0}};
    for (std::size_t tile = 0; tile < elements.size(); ++tile) {
        const auto id = static_cast<TileId>(tile);
        planned.graph.hold(buffer, id, 2 * elements[tile]);
        c.pieces.push_back(
            graph::run_of(id, {buffer, 0}, c.shape[0], elements[tile], ElementType::F16));
        c.shape[0] += elements[tile];
    }
    planned.graph.add_tensor(std::move(c));
    return family::accumulated(machine, std::move(planned), accumulate).division.predicted.compute;
}

} // namespace

TEST_CASE("adding a product to a tensor takes as long as on the tile that has most of it",
          "[kernels][family]") {
    spec::MachineSpec machine;
    machine.chip.tiles = 4;
    using workload::Accumulate;
    for (const Accumulate accumulate : {Accumulate::Over, Accumulate::Apart}) {
        const Cycles few = predicted(machine, {16}, accumulate);
        const Cycles many = predicted(machine, {1600}, accumulate);
        CHECK(few > machine.control.step_cycles);
        CHECK(many > few);
        CHECK(predicted(machine, {16, 1600}, accumulate) == many);
        CHECK(predicted(machine, {1600, 16}, accumulate) == many);
        CHECK(predicted(machine, {16, 16, 16}, accumulate) == few);
    }
    CHECK(predicted(machine, {1600}, Accumulate::None) == 0);
}

TEST_CASE("an estimate has memory for what a product is added to, and apart from it for the sum",
          "[kernels][family]") {
    spec::MachineSpec machine;
    family::Estimate estimate;
    estimate.cuts.parts_m = 2;
    estimate.cuts.parts_n = 3; // six tiles
    estimate.bytes = 1000;
    const auto bytes = [&](workload::Accumulate accumulate) {
        return family::fitting(machine, "c", estimate, accumulate, ElementType::F32, 601).bytes;
    };
    const Bytes share = 4 * 101; // 601 elements over six tiles
    CHECK(bytes(workload::Accumulate::None) == 1000);
    CHECK(bytes(workload::Accumulate::Over) == 1000 + share);
    CHECK(bytes(workload::Accumulate::Apart) == 1000 + 2 * share);
}
