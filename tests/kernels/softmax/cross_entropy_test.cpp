// SPDX-License-Identifier: MIT
#include "kernels/family/numbers.h"
#include "kernels/softmax/cross_entropy.h"
#include "kernels/softmax/softmax.h"
#include "tests/kernels/elementwise/elementwise_bench.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace tessera;
using test::Stand;

constexpr ElementType kTypes[] = {ElementType::F16, ElementType::F32};

/// One 1 in each row.
family::Value targets_of(const family::TensorType& type) {
    const std::int64_t columns = type.shape.back();
    return test::value_of(type, [&](std::int64_t i) {
        const std::int64_t row = i / columns;
        return i % columns == (5 * row + 2) % columns ? 1 : 0;
    });
}

test::StepRun run(const family::TensorType& type, const family::Value& x, const family::Value& t,
                  std::vector<Stand> stands = {Stand::Host, Stand::Host},
                  const spec::MachineSpec& machine = {}, std::int64_t tiles = 4) {
    return test::run_step(softmax::cross_entropy(), {{type, type}, {{"factor", 0.5}}}, stands,
                          {x, t}, machine, tiles);
}

} // namespace

TEST_CASE("cross entropies of any shape are right wherever logits and targets stand",
          "[kernels][softmax]") {
    for (const ElementType type : kTypes) {
        for (const auto& shape : std::vector<std::vector<std::int64_t>>{
                 {1, 1}, {1, 2}, {5, 3}, {9, 37}, {40, 8}, {3, 250}, {2, 3, 5}}) {
            for (const Stand x : test::kStands) {
                for (const Stand t : {Stand::Host, Stand::PaddedRows, Stand::Columns}) {
                    if (shape.size() > 2 && (x != Stand::Host || t != Stand::Host)) {
                        continue; // the bench places matrices
                    }
                    const family::TensorType matrix{type, shape};
                    CAPTURE(name_of(type), shape, static_cast<int>(x), static_cast<int>(t));
                    const auto outcome =
                        run(matrix, test::random_value(matrix, 1), targets_of(matrix), {x, t});
                    INFO(outcome.checked.sentence);
                    CHECK(outcome.checked.passed);
                    CHECK(outcome.checked.elements == 1);
                }
            }
        }
    }
}

TEST_CASE("cross entropies are right on any tiles, by any workers, of any targets",
          "[kernels][softmax]") {
    for (const ElementType type : kTypes) {
        const family::TensorType matrix{type, {83, 6}};
        for (const std::int64_t tiles : {2, 6, 34, 80}) {
            CAPTURE(name_of(type), tiles);
            CHECK(run(matrix, test::random_value(matrix, 1), test::random_value(matrix, 2, 1),
                      {Stand::Host, Stand::Host}, {}, tiles)
                      .checked.passed);
        }
        for (std::int64_t workers = 1; workers <= 8; ++workers) {
            spec::MachineSpec machine;
            machine.tile.workers = workers;
            CAPTURE(name_of(type), workers);
            CHECK(run(matrix, test::random_value(matrix, 1), targets_of(matrix),
                      {Stand::Host, Stand::Host}, machine)
                      .checked.passed);
        }
    }
}

TEST_CASE("equal logits have the entropy of all classes, however large they are",
          "[kernels][softmax]") {
    constexpr std::int64_t kRows = 10;
    constexpr std::int64_t kClasses = 32;
    for (const ElementType type : kTypes) {
        for (const double logit : {0.0, 100.0, -1000.0, 30000.0}) {
            const family::TensorType matrix{type, {kRows, kClasses}};
            const auto outcome = run(matrix, test::value_of(matrix, [&](auto) { return logit; }),
                                     targets_of(matrix));
            CAPTURE(name_of(type), logit);
            CHECK(outcome.checked.passed);
            const double wanted = 0.5 * kRows * std::log(static_cast<double>(kClasses));
            CHECK(family::number_at(outcome.output, 0) ==
                  Approx(wanted).margin(kRows * 0x1p-24 * std::fabs(logit)));
            auto wrong = outcome.output;
            wrong.bytes[2] ^= std::byte{0x40};
            const auto step = softmax::cross_entropy().make({{matrix, matrix}, {{"factor", 0.5}}});
            const auto x = test::value_of(matrix, [&](auto) { return logit; });
            const auto t = targets_of(matrix);
            CHECK_FALSE(step->check(std::vector<const family::Value*>{&x, &t}, wrong, 1).passed);
        }
    }
}

TEST_CASE("the join of a cross entropy uses a pair and a product of each share of a row",
          "[kernels][softmax]") {
    constexpr Bytes kPair = 8;
    constexpr Bytes kProduct = 4;
    int shared = 0;
    for (const auto& [rows, columns] : {std::pair{8, 512}, {40, 8}, {4, 2048}}) {
        const family::TensorType matrix{ElementType::F32, {rows, columns}};
        spec::MachineSpec machine;
        machine.chip.tiles = 4;
        exchange_plan::KnownSchedules known;
        const family::Site site{machine, known, 0, "step"};
        graph::Graph graph("test");
        const auto step = softmax::cross_entropy().make({{matrix, matrix}, {{"factor", 0.5}}});
        static_cast<void>(step->emit(graph, site, std::vector<std::optional<graph::TensorId>>(2)));
        int joins = 0;
        for (const graph::ComputeSet& set : graph.compute_sets) {
            for (const graph::Vertex& vertex : set.vertices) {
                if (graph.symbols.at(vertex.symbol) != "cross_entropy_join") {
                    continue;
                }
                const auto field = [&](std::uint32_t number) {
                    REQUIRE(number < vertex.fields.count);
                    return graph.fields.at(vertex.fields.first + number);
                };
                const std::int64_t shares = std::int64_t{field(2).word} * field(3).word;
                CHECK(field(0).bytes == shares * kPair);
                CHECK(field(1).bytes == shares * kProduct);
                CHECK(field(4).bytes == machine.tile.workers * kPair);
                shared += field(3).word > 1 ? 1 : 0;
                ++joins;
            }
        }
        CHECK(joins == 4);
    }
    CHECK(shared > 0);
}

TEST_CASE("cross entropies take the predicted cycles before their sum over the chip",
          "[kernels][softmax]") {
    constexpr std::int64_t kTiles = 4;
    for (std::int64_t workers = 1; workers <= 8; ++workers) {
        spec::MachineSpec machine;
        machine.tile.workers = workers;
        for (const ElementType type : kTypes) {
            for (const std::int64_t rows : {1, 2, 7, 13}) {
                for (const std::int64_t columns : {1, 2, 9, 64, 253}) {
                    const family::TensorType matrix{type, {kTiles * rows, columns}};
                    const auto outcome =
                        run(matrix, test::random_value(matrix, 1), targets_of(matrix),
                            {Stand::Host, Stand::Host}, machine, kTiles);
                    CAPTURE(workers, name_of(type), rows, columns);
                    INFO(outcome.checked.sentence);
                    CHECK(outcome.checked.passed);
                    CHECK(outcome.outcome.step_cycles.at(0) ==
                          softmax::cross_entropy_cycles(machine, type, rows, columns));
                }
            }
        }
    }
}

TEST_CASE("workers share a row of a cross entropy where that is faster", "[kernels][softmax]") {
    const spec::MachineSpec machine;
    for (const ElementType type : kTypes) {
        const auto cycles = [&](std::int64_t rows, std::int64_t columns) {
            return softmax::cross_entropy_cycles(machine, type, rows, columns);
        };
        CHECK(cycles(1, 1000) < cycles(machine.tile.workers, 1000) / 3);
        CHECK(cycles(1, 1000) < 2 * softmax::cycles(machine, type, 1, 1000));
    }
}

TEST_CASE("infinities among logits are the reference's", "[kernels][softmax]") {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const ElementType type : kTypes) {
        const family::TensorType matrix{type, {3, 64}};
        const auto t = test::value_of(matrix, [](auto) { return 0.5; });
        for (const double extreme : {-kInfinity, kInfinity}) {
            // all that a worker has of a row, or one element
            for (const std::int64_t hidden : {40, 1}) {
                const auto x = test::value_of(
                    matrix, [&](std::int64_t i) { return i % 64 < hidden ? extreme : 1; });
                const auto outcome = run(matrix, x, t);
                INFO(outcome.checked.sentence);
                CHECK(outcome.checked.passed);
            }
        }
    }
}

TEST_CASE("a cross entropy refuses what does not go together", "[kernels][softmax]") {
    const auto refusal = [](const family::TensorType& x, const family::TensorType& t,
                            double factor = 1) {
        try {
            static_cast<void>(softmax::cross_entropy().make({{x, t}, {{"factor", factor}}}));
        } catch (const family::Refused& refused) {
            return std::to_string(refused.input) + refused.option + ": " + refused.what();
        }
        return std::string("taken");
    };
    const family::TensorType half{ElementType::F16, {4, 6}};
    CHECK(refusal(half, half) == "taken");
    CHECK(refusal(half, {ElementType::F32, {4, 6}}) == "1: got f16 and f32, expected equal types");
    CHECK(refusal(half, {ElementType::F16, {6, 4}}) ==
          "1: got 4 x 6 and 6 x 4, expected equal shapes");
    CHECK(refusal({ElementType::F16, {4}}, {ElementType::F16, {4}}) ==
          "0: got a tensor of 1 size, expected rows and columns");
    CHECK(refusal(half, half, 1e39) == "-1factor: got 1e+39, expected a number that f32 can hold");
}
