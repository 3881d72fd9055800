// SPDX-License-Identifier: MIT
#include "kernels/softmax/softmax_gradient.h"
#include "tests/kernels/elementwise/elementwise_bench.h"

#include <catch2/catch.hpp>

#include <limits>

namespace {

using namespace tessera;
using test::Stand;

constexpr ElementType kTypes[] = {ElementType::F16, ElementType::F32};

test::StepRun run(const family::TensorType& type, const family::Value& y, const family::Value& dy,
                  std::vector<Stand> stands = {Stand::Host, Stand::Host},
                  const spec::MachineSpec& machine = {}, std::int64_t tiles = 4) {
    return test::run_step(softmax::gradient(), {{type, type}, {}}, stands, {y, dy}, machine, tiles);
}

} // namespace

TEST_CASE("a gradient of softmax of any shape is right in the predicted cycles",
          "[kernels][softmax]") {
    for (const ElementType type : kTypes) {
        for (const auto& [m, n] :
             std::initializer_list<std::pair<std::int64_t, std::int64_t>>{{1, 1},
                                                                          {1, 2},
                                                                          {5, 3},
                                                                          {4, 4},
                                                                          {3, 5},
                                                                          {7, 6},
                                                                          {13, 7},
                                                                          {40, 8},
                                                                          {23, 65},
                                                                          {1, 511},
                                                                          {7, 512}}) {
            for (const std::int64_t tiles : {2, 6}) {
                for (std::int64_t workers = 1; workers <= 8; ++workers) {
                    CAPTURE(name_of(type), m, n, tiles, workers);
                    spec::MachineSpec machine;
                    machine.tile.workers = workers;
                    const family::TensorType shape{type, {m, n}};
                    const auto seed = static_cast<std::uint64_t>(n);
                    const auto outcome = run(shape, test::random_value(shape, seed, 1),
                                             test::random_value(shape, seed + 1),
                                             {Stand::Host, Stand::Host}, machine, tiles);
                    INFO(outcome.checked.sentence);
                    CHECK(outcome.checked.passed);
                    CHECK(outcome.checked.elements == m * n);
                    REQUIRE(outcome.outcome.step_cycles.size() == 1);
                    CHECK(outcome.outcome.step_cycles[0] ==
                          softmax::gradient_cycles(machine, type, (m + tiles - 1) / tiles, n));
                }
            }
        }
    }
}

TEST_CASE("a gradient of softmax is right wherever its inputs stand", "[kernels][softmax]") {
    for (const ElementType type : kTypes) {
        const family::TensorType shape{type, {9, 37}};
        for (const Stand y : test::kStands) {
            for (const Stand dy : test::kStands) {
                CAPTURE(name_of(type), static_cast<int>(y), static_cast<int>(dy));
                const auto outcome = run(shape, test::random_value(shape, 1, 1),
                                         test::random_value(shape, 2), {y, dy});
                INFO(outcome.checked.sentence);
                CHECK(outcome.checked.passed);
            }
        }
    }
}

TEST_CASE("workers share a row where that is faster", "[kernels][softmax]") {
    const spec::MachineSpec machine;
    for (const ElementType type : kTypes) {
        const Cycles one = softmax::gradient_cycles(machine, type, 1, 512);
        const Cycles all = softmax::gradient_cycles(machine, type, machine.tile.workers, 512);
        CHECK(one < all / 3);
        // rows of one unit are not shared
        CHECK(softmax::gradient_cycles(machine, type, 1, 2) ==
              softmax::gradient_cycles(machine, type, 1, 1) + (type == ElementType::F16 ? 0 : -24));
    }
}

TEST_CASE("the gradient of a softmax is the slope of its output", "[kernels][softmax]") {
    // d sum(c softmax(x)) / dx by central differences, in double
    constexpr std::int64_t kColumns = 7;
    const family::TensorType shape{ElementType::F32, {1, kColumns}};
    const auto softmax_of = [](const std::vector<double>& x) {
        std::vector<double> y;
        double sum = 0;
        for (const double one : x) {
            sum += std::exp(one);
        }
        for (const double one : x) {
            y.push_back(std::exp(one) / sum);
        }
        return y;
    };
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const workload::CounterRandom random(seed, 9);
        std::vector<double> x;
        std::vector<double> c;
        for (std::uint64_t i = 0; i < kColumns; ++i) {
            x.push_back(static_cast<double>(random.below(4000, 2 * i)) / 1000 - 2);
            c.push_back(static_cast<double>(random.below(4000, 2 * i + 1)) / 1000 - 2);
        }
        const auto at = [](const std::vector<double>& of) {
            return [&of](std::int64_t i) { return of[static_cast<std::size_t>(i)]; };
        };
        const auto y = softmax_of(x);
        const auto outcome = run(shape, test::value_of(shape, at(y)), test::value_of(shape, at(c)));
        CHECK(outcome.checked.passed);
        for (std::size_t j = 0; j < kColumns; ++j) {
            constexpr double kStep = 1e-5;
            double slope = 0;
            for (const double sign : {1.0, -1.0}) {
                auto moved = x;
                moved[j] += sign * kStep;
                const auto there = softmax_of(moved);
                for (std::size_t i = 0; i < kColumns; ++i) {
                    slope += sign * c[i] * there[i] / (2 * kStep);
                }
            }
            float got = 0;
            std::memcpy(&got, &outcome.output.bytes[j * 4], 4);
            CHECK(double{got} == Approx(slope).margin(2e-6));
        }
    }
}

TEST_CASE("the check of a gradient of softmax finds a wrong element", "[kernels][softmax]") {
    for (const ElementType type : kTypes) {
        const family::TensorType shape{type, {3, 5}};
        const auto y = test::random_value(shape, 2, 1);
        const auto dy = test::random_value(shape, 3);
        auto outcome = run(shape, y, dy);
        REQUIRE(outcome.checked.passed);
        const auto step = softmax::gradient().make({{shape, shape}, {}});
        auto& bytes = outcome.output.bytes;
        bytes[static_cast<std::size_t>(7 * bytes_of(type) + bytes_of(type) - 1)] ^= std::byte{0x04};
        const auto checked = step->check(std::array{&y, &dy}, outcome.output, 1);
        CHECK_FALSE(checked.passed);
        CHECK(checked.failed_elements == 1);
        CHECK_THAT(checked.sentence, Catch::Contains("element 7"));
    }
}

TEST_CASE("a gradient of softmax refuses what does not go together", "[kernels][softmax]") {
    const auto refusal = [](const family::TensorType& y, const family::TensorType& dy) {
        try {
            static_cast<void>(softmax::gradient().make({{y, dy}, {}}));
        } catch (const family::Refused& refused) {
            return std::to_string(refused.input) + ": " + refused.what();
        }
        return std::string("taken");
    };
    const family::TensorType half{ElementType::F16, {4, 6}};
    CHECK(refusal(half, {ElementType::F32, {4, 6}}) == "1: got f16 and f32, expected equal types");
    CHECK(refusal(half, {ElementType::F16, {6, 4}}) ==
          "1: got 4 x 6 and 6 x 4, expected equal shapes");
    CHECK(refusal({ElementType::F16, {4}}, {ElementType::F16, {4}}) ==
          "0: got a tensor of 1 size, expected rows and columns");
}
