// SPDX-License-Identifier: MIT
// Where two operands of one shape stand for a step that takes them row by row.
#include "kernels/exchange_plan/known_schedules.h"
#include "kernels/family/two_matrices.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

using namespace tessera;
using graph::InRows;
using graph::RowBlock;
using graph::TensorId;

namespace {

constexpr std::int64_t kTiles = 3;
const family::TensorType kType{ElementType::F16, {7, 5}};

struct Scene {
    Scene() { machine.chip.tiles = kTiles; }

    /// A tensor in rows, over so many tiles.
    InRows standing(const char* name, std::int64_t tiles) {
        return graph::add_rows(graph, {.name = name, .type = kType.type, .shape = kType.shape},
                               {0, tiles});
    }
    std::array<InRows, 2> chosen(std::optional<TensorId> first, std::optional<TensorId> second) {
        const std::vector<std::optional<TensorId>> where{first, second};
        return family::two_matrices(graph, {.machine = machine, .known = known, .owner = "s"},
                                    kType, {"x", "y"}, where);
    }

    spec::MachineSpec machine;
    exchange_plan::KnownSchedules known;
    graph::Graph graph{"g"};
};

/// Tile, first row and rows of each block: "0: 0+3".
std::vector<std::string> rows_in(const InRows& in) {
    std::vector<std::string> lines;
    for (const RowBlock& block : in.blocks) {
        lines.push_back(fmt::format("{}: {}+{}", block.tile, block.first_row, block.rows));
    }
    return lines;
}

} // namespace

TEST_CASE("two operands that are taken row by row have their rows on the same tiles", "[family]") {
    Scene scene;
    const InRows wide = scene.standing("wide", kTiles);
    const InRows alike = scene.standing("alike", kTiles);
    const InRows narrow = scene.standing("narrow", kTiles - 1);
    REQUIRE(rows_in(wide) == rows_in(alike));
    REQUIRE(rows_in(wide) != rows_in(narrow));
    struct Case {
        std::optional<TensorId> first;
        std::optional<TensorId> second;
        bool keeps_first;
        bool keeps_second;
        const InRows& rows;
    };
    const std::vector<Case> cases{
        {std::nullopt, std::nullopt, false, false, wide}, // over all tiles
        {wide.tensor, std::nullopt, true, false, wide},
        {narrow.tensor, std::nullopt, true, false, narrow},
        {std::nullopt, narrow.tensor, false, true, narrow},
        {wide.tensor, alike.tensor, true, true, wide},
        {wide.tensor, narrow.tensor, true, false, wide},
        {narrow.tensor, wide.tensor, true, false, narrow},
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
        CAPTURE(i);
        const Case& one = cases[i];
        const std::size_t before = scene.graph.tensors.size();
        const auto made = scene.chosen(one.first, one.second);
        CHECK(rows_in(made[0]) == rows_in(one.rows));
        CHECK(rows_in(made[1]) == rows_in(one.rows));
        CHECK((one.first && made[0].tensor.index == one.first->index) == one.keeps_first);
        CHECK((one.second && made[1].tensor.index == one.second->index) == one.keeps_second);
        const std::size_t kept = (one.keeps_first ? 1U : 0U) + (one.keeps_second ? 1U : 0U);
        REQUIRE(scene.graph.tensors.size() == before + 2 - kept);
        if (!one.keeps_second) {
            CHECK(scene.graph.tensors[made[1].tensor.index].name == "s: y");
        }
        if (!one.keeps_first) {
            CHECK(scene.graph.tensors[made[0].tensor.index].name == "s: x");
        }
    }
}
