// SPDX-License-Identifier: MIT
// Gradients of functions of elements: against differences of the functions themselves, for every FP16
// number, and where s or 1 - s of a gelu is nothing beside what it is multiplied by.
#include "base/float16.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/function/function.h"
#include "kernels/workload/random.h"
#include "tests/kernels/elementwise/elementwise_bench.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

namespace {

using namespace tessera;
using test::Stand;

constexpr ElementType kTypes[] = {ElementType::F16, ElementType::F32};

test::StepRun run(const family::Family& family, const family::Value& x, const family::Value& dy) {
    return test::run_step(family, {{x.type, dy.type}, {}}, {Stand::Host, Stand::Host}, {x, dy});
}

} // namespace

TEST_CASE("gradients are the slopes of their functions", "[kernels][elementwise]") {
    const workload::CounterRandom random(5, 1);
    for (const ElementType type : kTypes) {
        for (const auto& [forward, gradient] :
             {std::pair{function::relu(type), function::relu_gradient(type)},
              std::pair{function::gelu(type), function::gelu_gradient(type)}}) {
            for (std::uint64_t i = 0; i < 200; ++i) {
                constexpr double kStep = 1e-5;
                const double x = 1e-3 * (static_cast<double>(random.below(16000, i)) - 8000) + 5e-4;
                const double dy = 1 + static_cast<double>(i % 5);
                const double slope =
                    (forward.value(x + kStep, 0) - forward.value(x - kStep, 0)) / (2 * kStep);
                CAPTURE(forward.name, x, dy);
                CHECK(gradient.value(x, dy) == Approx(dy * slope).margin(1e-8));
            }
        }
    }
}

TEST_CASE("gradients of functions of elements are right for every finite FP16 number",
          "[kernels][elementwise]") {
    constexpr std::int64_t kOfOneSign = 31 * 1024;
    const family::TensorType type{ElementType::F16, {2 * kOfOneSign}};
    const auto x = test::value_of(type, [](std::int64_t i) {
        const auto half = static_cast<std::uint16_t>(i % kOfOneSign);
        return i < kOfOneSign ? f16_to_f32(half) : -f16_to_f32(half);
    });
    const auto dy = test::value_of(type, [](std::int64_t i) { return i % 2 == 0 ? 1 : -0.375; });
    for (const family::Family* family :
         {&elementwise::relu_gradient(), &elementwise::gelu_gradient()}) {
        const auto outcome = run(*family, x, dy);
        CAPTURE(family->name);
        INFO(outcome.checked.sentence);
        CHECK(outcome.checked.passed);
    }
}

TEST_CASE("what a gradient of gelu may be off by stays small beside dy", "[kernels][elementwise]") {
    for (const ElementType type : kTypes) {
        const auto gelu = function::gelu_gradient(type);
        // x v' is up to 75 before 1 - s is 0; f32sigm may be off by five roundings, f16v2sigm by one
        const double most = (type == ElementType::F16 ? 1 : 5) * 80;
        for (double x = -300; x <= 300; x += 0.25) {
            CAPTURE(name_of(type), x);
            const double off = gelu.tolerance(x, 1, gelu.value(x, 1));
            CHECK(off < most * unit_roundoff(type));
            if (std::fabs(x) > 12) { // a rounding to 1, or the least number there is
                CHECK(off <= 5 * unit_roundoff(type));
            }
        }
    }
}

TEST_CASE("no finite number makes a gradient of gelu infinite", "[kernels][elementwise]") {
    for (const ElementType type : kTypes) {
        const double most = type == ElementType::F16 ? 65504 : std::numeric_limits<float>::max();
        const family::TensorType shape{type, {6}};
        const std::vector<double> ends = {most, -most, 300, -300, 1e4, -1e4};
        const auto x = test::value_of(
            shape, [&](std::int64_t i) { return ends[static_cast<std::size_t>(i)]; });
        const auto outcome =
            run(elementwise::gelu_gradient(), x, test::value_of(shape, [](auto) { return 2; }));
        INFO(outcome.checked.sentence);
        CHECK(outcome.checked.passed);
        for (std::int64_t i = 0; i < 6; ++i) {
            float got = 0;
            if (type == ElementType::F32) {
                std::memcpy(&got, &outcome.output.bytes[static_cast<std::size_t>(i) * 4], 4);
            } else {
                std::uint16_t half = 0;
                std::memcpy(&half, &outcome.output.bytes[static_cast<std::size_t>(i) * 2], 2);
                got = f16_to_f32(half);
            }
            CHECK(double{got} == (i % 2 == 0 ? 2.0 : 0.0));
        }
    }
}
