// SPDX-License-Identifier: MIT
#include "kernels/codelets/column_sums_cost.h"
#include "kernels/exchange_plan/known_schedules.h"
#include "kernels/family/numbers.h"
#include "kernels/plan/vertex_cost.h"
#include "kernels/reduce/sum_rows.h"
#include "tests/kernels/elementwise/elementwise_bench.h"

#include <catch2/catch.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace tessera;
using family::TensorType;
using test::Stand;

constexpr ElementType kTypes[] = {ElementType::F16, ElementType::F32};

test::StepRun run(const TensorType& x, const family::Value& value, Stand stand = Stand::Host,
                  const spec::MachineSpec& machine = {}, std::int64_t tiles = 4) {
    return test::run_step(reduce::sum_rows(), {{x}, {}}, {stand}, {value}, machine, tiles);
}

} // namespace

TEST_CASE("sums of rows of any shape are right wherever x stands", "[kernels][reduce]") {
    for (const ElementType type : kTypes) {
        for (const auto& shape : std::vector<std::vector<std::int64_t>>{
                 {1, 1}, {1, 2}, {5, 3}, {4, 4}, {9, 37}, {40, 8}, {3, 250}, {2, 3, 5}}) {
            for (const Stand stand : test::kStands) {
                if (shape.size() > 2 && stand != Stand::Host) {
                    continue; // the bench places matrices
                }
                const TensorType matrix{type, shape};
                CAPTURE(name_of(type), shape, static_cast<int>(stand));
                const auto outcome = run(matrix, test::random_value(matrix, 1), stand);
                INFO(outcome.checked.sentence);
                CHECK(outcome.checked.passed);
                CHECK(outcome.checked.elements == shape.back());
            }
        }
    }
}

TEST_CASE("sums of rows are right in one stage and in several, by any workers",
          "[kernels][reduce]") {
    for (const ElementType type : kTypes) {
        for (const auto& [tiles, rows] : std::vector<std::pair<std::int64_t, std::int64_t>>{
                 {2, 7}, {32, 32}, {34, 33}, {48, 100}, {80, 80}}) {
            for (const std::int64_t columns : {3, 16, 90}) {
                CAPTURE(name_of(type), tiles, rows, columns);
                const TensorType matrix{type, {rows, columns}};
                const auto outcome =
                    run(matrix, test::random_value(matrix, 3), Stand::Host, {}, tiles);
                INFO(outcome.checked.sentence);
                CHECK(outcome.checked.passed);
            }
        }
        for (std::int64_t workers = 1; workers <= 8; ++workers) {
            spec::MachineSpec machine;
            machine.tile.workers = workers;
            const TensorType matrix{type, {11, 70}};
            CAPTURE(name_of(type), workers);
            CHECK(run(matrix, test::random_value(matrix, 3), Stand::Host, machine).checked.passed);
        }
    }
}

TEST_CASE("sums of the columns of blocks take the predicted cycles", "[kernels][reduce]") {
    for (const ElementType type : kTypes) {
        for (std::int64_t workers = 1; workers <= 8; ++workers) {
            for (const auto& [rows, columns] :
                 std::vector<std::pair<std::int64_t, std::int64_t>>{{4, 8}, {12, 33}, {28, 130}}) {
                constexpr std::int64_t kTiles = 4;
                spec::MachineSpec machine;
                machine.tile.workers = workers;
                const TensorType matrix{type, {rows, columns}};
                const auto outcome =
                    run(matrix, test::random_value(matrix, 3), Stand::Host, machine, kTiles);
                const std::int64_t units = graph::units_of(columns * bytes_of(type));
                std::vector<std::int64_t> issues;
                for (std::int64_t w = 0; w < workers; ++w) {
                    issues.push_back(codelets::column_sums_issues(
                        type, units / workers + (w < units % workers ? 1 : 0), rows / kTiles));
                }
                CAPTURE(name_of(type), workers, rows, columns);
                REQUIRE_FALSE(outcome.outcome.step_cycles.empty());
                CHECK(outcome.outcome.step_cycles.front() ==
                      plan::multi_worker_cycles(machine, issues));
            }
        }
    }
}

TEST_CASE("ones sum to the number of rows", "[kernels][reduce]") {
    for (const ElementType type : kTypes) {
        const TensorType matrix{type, {100, 12}};
        const auto outcome =
            run(matrix, test::value_of(matrix, [](auto) { return 1; }), Stand::PaddedRows, {}, 40);
        CHECK(outcome.checked.passed);
        for (std::int64_t j = 0; j < 12; ++j) {
            CHECK(family::number_at(outcome.output, j) == 100);
        }
    }
}

TEST_CASE("the check of sums of rows finds a wrong element", "[kernels][reduce]") {
    for (const ElementType type : kTypes) {
        const TensorType matrix{type, {3, 5}};
        const auto x = test::random_value(matrix, 2, 1);
        auto outcome = run(matrix, x);
        REQUIRE(outcome.checked.passed);
        const auto step = reduce::sum_rows().make({{matrix}, {}});
        auto& bytes = outcome.output.bytes;
        bytes[static_cast<std::size_t>(2 * bytes_of(type) + bytes_of(type) - 1)] ^= std::byte{0x04};
        const auto checked = step->check(std::array{&x}, outcome.output, 1);
        CHECK(checked.failed_elements == 1);
        CHECK_THAT(checked.sentence, Catch::Contains("element 2"));
    }
}

TEST_CASE("a sum may be off by a rounding for each row that a tile adds", "[kernels][reduce]") {
    // on one tile; near 4 numbers of FP32 are 8 u apart
    const std::int64_t rows = 4;
    const double u = unit_roundoff(ElementType::F32);
    const TensorType matrix{ElementType::F32, {rows, 2}};
    const family::Value x = test::value_of(matrix, [](auto) { return 1; });
    const auto step = reduce::sum_rows().make({{matrix}, {}});
    spec::MachineSpec machine;
    machine.chip.tiles = 1;
    exchange_plan::KnownSchedules known;
    graph::Graph graph("test");
    const std::vector<std::optional<graph::TensorId>> nowhere(1);
    static_cast<void>(step->emit(graph, {machine, known, 0, "step"}, nowhere));
    const std::int64_t slices = 1; // whose sum is rounded again, as the result is
    const double allowed = static_cast<double>((rows + slices + 1) * rows) * u;
    const double apart = 8 * u;
    for (int steps = 0; steps < 5; ++steps) {
        CAPTURE(steps);
        const double off = steps * apart;
        const std::vector<family::Value> made{test::value_of(
            {ElementType::F32, {2}}, [&](auto) { return static_cast<double>(rows) + off; })};
        CHECK(step->check(std::array{&x}, made, 1).passed == (off <= allowed));
    }
}

TEST_CASE("sums of rows refuse what is no matrix", "[kernels][reduce]") {
    CHECK_THROWS_WITH(reduce::sum_rows().make({{{ElementType::F16, {4}}}, {}}),
                      "got a tensor of 1 size, expected rows and columns");
    CHECK_THROWS_WITH(reduce::sum_rows().make({{{ElementType::U32, {4, 4}}}, {}}),
                      "got elements of type u32, expected f16 or f32");
}
