// SPDX-License-Identifier: MIT
// Rules of published sparse plans beyond the planner's: which rows of X a pair takes together, how many
// workers sum a group, and when a vertex begins.
#include "base/ceil_div.h"
#include "base/float16.h"
#include "kernels/lower/lower.h"
#include "kernels/sparse/published/layout.h"
#include "kernels/sparse/published/plan.h"
#include "models/timing/tile_position.h"
#include "tests/kernels/sparse/sparse_operands.h"
#include "tests/support/gc2.h"
#include "tests/support/run_program.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace {

using namespace tessera;

workload::SpmmWorkload published_workload(const workload::SparseF16& a, std::int64_t n) {
    workload::SpmmWorkload workload;
    workload.n = n;
    workload.block = a.block;
    workload.plan = workload::PlanKind::Published;
    return workload;
}

spec::MachineSpec machine_with(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

published::StaticPlan plan_of(const spec::MachineSpec& machine, const workload::SparseF16& a,
                              std::int64_t n) {
    published::StaticProblem problem;
    problem.n = n;
    problem.block = a.block;
    problem.column_counts.resize(static_cast<std::size_t>(a.block_columns()));
    for (std::size_t row = 0; row + 1 < a.row_start.size(); ++row) {
        problem.row_counts.push_back(a.row_start[row + 1] - a.row_start[row]);
    }
    for (const std::int32_t column : a.block_column) {
        ++problem.column_counts[static_cast<std::size_t>(column)];
    }
    return *published::plan_static(problem, published::static_machine(machine));
}

/// A product's plan, and what of it stands on which tile.
struct Laid {
    Laid(const spec::MachineSpec& on, const workload::SparseF16& of, std::int64_t n)
        : machine(on), a(of), workload(published_workload(of, n)), plan(plan_of(machine, a, n)),
          layout(machine, workload, a, plan, n, false) {}

    spec::MachineSpec machine;
    workload::SparseF16 a;
    workload::SpmmWorkload workload;
    published::StaticPlan plan;
    sparse::PublishedLayout layout;
};

/// Rows of parts by how many tiles have some of them.
std::map<std::int64_t, std::int64_t> groups_of(const sparse::PublishedLayout& layout) {
    std::map<std::pair<std::int64_t, std::int32_t>, std::int64_t> tiles_of_row;
    for (const sparse::TileBlocks& tile : layout.tiles) {
        for (const std::int32_t row : tile.rows) {
            ++tiles_of_row[{tile.part, row}];
        }
    }
    std::map<std::int64_t, std::int64_t> groups;
    for (const auto& [row, tiles] : tiles_of_row) {
        ++groups[tiles];
    }
    groups.erase(1); // not summed
    return groups;
}

/// Vertices that sum, by tile and how many partial results they add: each has a table of its own.
std::map<std::pair<TileId, std::int64_t>, std::int64_t>
summing_vertices(const graph::Graph& graph) {
    std::map<std::pair<TileId, std::int64_t>, std::int64_t> vertices;
    const auto& sets = graph.compute_sets;
    const auto reduce = std::find_if(sets.begin(), sets.end(),
                                     [](const auto& set) { return set.name == "reduce"; });
    for (const graph::Vertex& vertex : reduce->vertices) {
        for (const graph::Field& field : graph.fields_of(vertex.fields)) {
            if (field.kind == graph::Field::Kind::Table) {
                const auto state = graph.fields_of(graph.tables[field.word].fields);
                ++vertices[{vertex.tile, (state[3].word & 0xffffU) + 1}];
            }
        }
    }
    return vertices;
}

/// Runs the library's sums on one tile: a vertex for each number of 8-byte words, each the sum of two.
Cycles cycles_of_sums(const std::vector<std::int64_t>& words) {
    graph::Graph graph("sums");
    graph.codelets = {"published/reduce_many"};
    const auto from = graph.add_buffer({.name = "partials", .read_beyond = 128});
    const auto to = graph.add_buffer({.name = "sums", .apart = {from}});
    const auto set = graph.add_compute_set({"reduce", program::Role::Reduce, "test"});
    const auto all = static_cast<std::int64_t>(words.size());
    std::vector<graph::Field> state{graph::word(all - 1), graph::word(all - 1)};
    std::int64_t before = 0;
    for (const std::int64_t mine : words) {
        const std::vector<graph::Field> vertex{
            graph::word(0), graph::write({to, before * 8}, mine * 8),
            graph::read({from, before * 16}, mine * 16), graph::word(1 | ((mine - 1) << 16)),
            graph::word(mine)};
        state.push_back(graph::table(graph.add_table(0, vertex)));
        before += mine;
    }
    graph.hold(from, 0, before * 16);
    graph.hold(to, 0, before * 8);
    auto operand = graph::array_tensor("x", ElementType::F16, before * 8);
    operand.given = true;
    operand.pieces.push_back(graph::run_of(0, {from}, 0, before * 8, ElementType::F16));
    auto result = graph::array_tensor("c", ElementType::F16, before * 4);
    result.wanted = true;
    result.pieces.push_back(graph::run_of(0, {to}, 0, before * 4, ElementType::F16));
    graph.add_tensor(operand);
    graph.add_tensor(result);
    graph.add_vertex(set, 0, "ReduceMany_add_half", program::VertexKind::Supervisor, state);
    graph.control = graph::sequence({graph::run(set)});
    const spec::MachineSpec machine = machine_with(1);
    const auto lowered = lower::lower(machine, std::move(graph));
    const std::vector<std::uint16_t> ones(static_cast<std::size_t>(before * 8), f32_to_f16(1));
    const auto outcome =
        test::run_program(machine, lowered.program, {{"x", test::operand(ones, ElementType::F16)}});
    CHECK(outcome.result ==
          std::vector<std::uint16_t>(static_cast<std::size_t>(before * 4), f32_to_f16(2)));
    return outcome.step_cycles.front();
}

} // namespace

// A supervisor without a slot stands still until a worker exits, so it needs no sync between vertices.
TEST_CASE("the next sum begins as soon as any worker is done", "[kernels]") {
    constexpr std::int64_t kLong = 200;
    const Cycles one = cycles_of_sums({kLong});
    const Cycles six = cycles_of_sums(std::vector<std::int64_t>(6, kLong));
    CHECK(six < one + one / 10);
    SECTION("behind a short one, not behind the longest of the first six") {
        CHECK(cycles_of_sums({1, kLong, kLong, kLong, kLong, kLong, kLong}) < one + one / 10);
    }
    SECTION("one after the other where all are as long") {
        const Cycles seven = cycles_of_sums(std::vector<std::int64_t>(7, kLong));
        CHECK(seven > 2 * one - one / 10);
        CHECK(seven < 2 * one + one / 10);
    }
    SECTION("any number of them") {
        CHECK(cycles_of_sums(std::vector<std::int64_t>(60, 10)) <
              cycles_of_sums(std::vector<std::int64_t>(6, 100)) * 3 / 2);
    }
}

TEST_CASE("workers are shared among all groups of a product, whatever groups a tile has",
          "[kernels]") {
    bool many = false;
    bool few = false;
    for (const std::int64_t tiles : {64, 512}) {
        for (const std::int64_t n : {4, 64}) {
            const auto a = test::sparse_operand({48 * 16, 48 * 16, n, 16, 20});
            const Laid laid(machine_with(tiles), a, n);
            const auto groups = groups_of(laid.layout);
            std::int64_t rows = 0;
            for (const auto& [depth, of_group] : groups) {
                rows += of_group;
            }
            const auto count = static_cast<std::int64_t>(groups.size());
            const auto planned = sparse::plan_published(laid.machine, laid.workload, a);
            CAPTURE(tiles, n, count);
            REQUIRE(count > 0);
            bool all = false; // some tile has all vertices of a group
            for (const auto& [of, vertices] : summing_vertices(planned.graph)) {
                const std::int64_t most = count > 6 ? 2 : ceil_div(6 * groups.at(of.second), rows);
                CHECK(vertices <= most);
                all = all || vertices == most;
            }
            CHECK(all);
            (count > 6 ? many : few) = true;
        }
    }
    CHECK(many);
    CHECK(few);
}

TEST_CASE("a pair takes together what both of its tiles want, from one tile of each other pair",
          "[kernels]") {
    const auto a = test::sparse_operand({40 * 16, 40 * 16, 512, 16, 30});
    for (const spec::MachineSpec& machine : {machine_with(32), test::gc2_with(32)}) {
        const Laid laid(machine, a, 512);
        const sparse::PublishedLayout& layout = laid.layout;
        std::int64_t together = 0;
        for (TileId tile = 0; tile < layout.tiles.size(); ++tile) {
            const sparse::TileBlocks& mine = layout.tiles[tile];
            const TileId partner = *timing::partner_tile(machine.chip, tile);
            const sparse::TileBlocks& other = layout.tiles[partner];
            const std::set<std::int32_t> columns(mine.columns.begin(), mine.columns.end());
            CHECK(columns.size() == mine.columns.size());
            for (std::size_t i = 0; i < mine.blocks.size(); ++i) {
                const auto block = static_cast<std::size_t>(mine.blocks[i]);
                CHECK(mine.columns[static_cast<std::size_t>(mine.slots[i])] ==
                      a.block_column[block]);
            }
            CHECK(mine.together == other.together);
            for (std::int64_t slot = 0; slot < mine.together; ++slot) {
                const std::int32_t column = mine.columns[static_cast<std::size_t>(slot)];
                CHECK(column == other.columns[static_cast<std::size_t>(slot)]);
                CHECK(mine.slot_of(column) == slot);
            }
            together += mine.together;
        }
        CHECK(together > 0);
        const auto planned = sparse::plan_published(machine, laid.workload, a);
        const graph::Exchange& bring = planned.graph.exchanges.front();
        REQUIRE(bring.name == "bring");
        std::int64_t wide = 0;
        for (const graph::Message& message : bring.messages) {
            if (message.paired) {
                ++wide;
                CHECK(message.bytes >= machine.exchange.pair_min_items * 8);
                CHECK(message.from.tile < *timing::partner_tile(machine.chip, message.from.tile));
            }
        }
        CHECK(wide > 0);
    }
}

TEST_CASE("rows of X that are too short for double width stand in ascending order", "[kernels]") {
    const auto a = test::sparse_operand({40 * 16, 40 * 16, 8, 16, 30});
    const Laid laid(machine_with(32), a, 8);
    for (const sparse::TileBlocks& tile : laid.layout.tiles) {
        CHECK(tile.together == 0);
        CHECK(std::is_sorted(tile.columns.begin(), tile.columns.end()));
    }
}
