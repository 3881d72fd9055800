// SPDX-License-Identifier: MIT
// scatter_add: rows are added to those that the list names, however y is divided; no cycle depends on the
// list.
#include "kernels/codelets/scatter_add_cost.h"
#include "kernels/family/numbers.h"
#include "kernels/gather/scatter_add.h"
#include "kernels/plan/vertex_cost.h"
#include "tests/kernels/elementwise/elementwise_bench.h"

#include <catch2/catch.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace tessera;
using test::Stand;

using Ids = std::function<std::int64_t(std::int64_t)>;

family::TensorType ids_type(std::int64_t count) {
    return {ElementType::U32, {count}};
}

test::StepRun added(const family::Value& x, std::int64_t rows, const Ids& ids, Stand stand,
                    const spec::MachineSpec& machine, std::int64_t tiles) {
    const auto type = ids_type(x.type.shape[0]);
    return test::run_step(
        gather::scatter_add(), {{x.type, type}, {{"rows", static_cast<double>(rows)}}},
        {stand, Stand::Host},
        {x, test::value_of(type, [&](std::int64_t i) { return static_cast<double>(ids(i)); })},
        machine, tiles);
}

Cycles all_cycles(const test::StepRun& run) {
    Cycles sum = 0;
    for (const Cycles cycles : run.outcome.step_cycles) {
        sum += cycles;
    }
    return sum;
}

} // namespace

TEST_CASE("rows are added to those that any list names, in cycles that do not depend on it",
          "[kernels][gather]") {
    for (const auto& [rows, columns, count] : std::initializer_list<std::array<std::int64_t, 3>>{
             {1, 1, 1}, {7, 3, 5}, {40, 8, 13}, {64, 33, 40}, {300, 4, 90}, {5, 200, 2}}) {
        for (const std::int64_t tiles : {2, 6, 16}) {
            CAPTURE(rows, columns, count, tiles);
            const auto x = test::random_value({ElementType::F32, {count, columns}}, 4);
            const std::int64_t all = rows;
            std::optional<Cycles> cycles;
            for (const Ids& ids : std::vector<Ids>{
                     [&](std::int64_t i) { return (i * 7 + 3) % all; }, // some twice
                     [&](std::int64_t) { return std::int64_t{0}; },
                     [&](std::int64_t) { return all - 1; },
                     [&](std::int64_t i) { return i % 2 == 0 ? all : std::int64_t{0xffffffff}; },
                     [&](std::int64_t i) { return i % all; }}) {
                const auto run = added(x, rows, ids, Stand::Host, {}, tiles);
                INFO(run.checked.sentence);
                CHECK(run.checked.passed);
                CHECK(run.checked.elements == rows * columns);
                CHECK(all_cycles(run) == cycles.value_or(all_cycles(run)));
                cycles = all_cycles(run);
            }
        }
    }
}

TEST_CASE("rows are added wherever they stand, by any workers", "[kernels][gather]") {
    const auto x = test::random_value({ElementType::F32, {9, 37}}, 4);
    const Ids ids = [](std::int64_t i) { return i * i % 6; };
    for (const Stand stand : test::kStands) {
        CAPTURE(static_cast<int>(stand));
        CHECK(added(x, 6, ids, stand, {}, 4).checked.passed);
    }
    for (std::int64_t workers = 1; workers <= 8; ++workers) {
        spec::MachineSpec machine;
        machine.tile.workers = workers;
        CAPTURE(workers);
        CHECK(added(x, 6, ids, Stand::Host, machine, 4).checked.passed);
    }
}

TEST_CASE("the parts of y are added to in the predicted cycles", "[kernels][gather]") {
    // so few rows that columns alone are divided
    const spec::MachineSpec machine;
    constexpr std::int64_t kCount = 50;
    constexpr std::int64_t kTiles = 4;
    for (const std::int64_t words_of_tile : {6, 13}) {
        const auto x =
            test::random_value({ElementType::F32, {kCount, 2 * kTiles * words_of_tile}}, 4);
        const auto run = added(
            x, 1, [](std::int64_t) { return 0; }, Stand::Host, machine, kTiles);
        std::vector<std::int64_t> issues;
        for (std::int64_t worker = 0; worker < machine.tile.workers; ++worker) {
            const std::int64_t own = words_of_tile / machine.tile.workers +
                                     (worker < words_of_tile % machine.tile.workers ? 1 : 0);
            issues.push_back(codelets::scatter_add_issues(kCount, own));
        }
        CHECK(run.outcome.step_cycles.back() == plan::multi_worker_cycles(machine, issues));
    }
}

TEST_CASE("a table that no tile holds is divided by rows and each part is added to",
          "[kernels][gather]") {
    spec::MachineSpec machine;
    machine.memory.region0_bytes = 131'072;
    machine.memory.region1_bytes = 131'072;
    constexpr std::int64_t kRows = 100'000;
    const auto x = test::random_value({ElementType::F32, {40, 2}}, 4);
    const auto run = added(
        x, kRows, [](std::int64_t i) { return (i * 7919) % kRows; }, Stand::Host, machine, 8);
    INFO(run.checked.sentence);
    CHECK(run.checked.passed);
}

TEST_CASE("a wrong sum is found", "[kernels][gather]") {
    const auto x = test::random_value({ElementType::F32, {3, 4}}, 4);
    const auto type = ids_type(3);
    const family::Request request{{x.type, type}, {{"rows", 5.0}}};
    auto run = added(
        x, 5, [](std::int64_t) { return 1; }, Stand::Host, {}, 2);
    REQUIRE(run.checked.passed);
    const auto ids = test::value_of(type, [](auto) { return 1; });
    const auto step = gather::scatter_add().make(request);
    for (const std::size_t element : {5U, 9U}) { // a sum, and one that is 0
        auto wrong = run.output;
        wrong.bytes[4 * element + 2] ^= std::byte{0x40};
        const auto checked = step->check(std::array{&x, &ids}, wrong, 1);
        CHECK(checked.failed_elements == 1);
    }
}

TEST_CASE("a scatter_add refuses what is no row for each number", "[kernels][gather]") {
    const auto refusal = [](const family::TensorType& x, const family::TensorType& ids,
                            double rows = 4) {
        try {
            static_cast<void>(gather::scatter_add().make({{x, ids}, {{"rows", rows}}}));
        } catch (const family::Refused& refused) {
            return std::to_string(refused.input) + refused.option + ": " + refused.what();
        }
        return std::string("taken");
    };
    const family::TensorType x{ElementType::F32, {2, 3, 5}};
    const family::TensorType ids{ElementType::U32, {2, 3}};
    CHECK(refusal(x, ids) == "taken");
    CHECK(refusal({ElementType::F16, {2, 3, 5}}, ids) ==
          "0: got 2 x 3 x 5 of f16 for 2 x 3 row numbers, expected a dense row of f32 for each");
    CHECK(refusal({ElementType::F32, {3, 2, 5}}, ids) ==
          "0: got 3 x 2 x 5 of f32 for 2 x 3 row numbers, expected a dense row of f32 for each");
    CHECK(refusal(x, {ElementType::F32, {2, 3}}) ==
          "1: ids: got 2 x 3 of f32, expected row numbers of type u32 or i32");
    CHECK(refusal(x, ids, 0) == "-1rows: got 0, expected a whole number of rows from 1 on");
    CHECK(refusal(x, ids, 2.5) == "-1rows: got 2.5, expected a whole number of rows from 1 on");
}
