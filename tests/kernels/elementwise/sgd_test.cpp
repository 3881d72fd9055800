// SPDX-License-Identifier: MIT
// Descent where weights and gradients have different types, and where it goes on in place.
#include "base/float16.h"
#include "kernels/elementwise/elementwise.h"
#include "tests/kernels/elementwise/elementwise_bench.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <string>

namespace {

using namespace tessera;
using family::Request;
using test::Stand;

Request descent(ElementType weights, ElementType gradient, const std::vector<std::int64_t>& shape,
                double rate) {
    return {{{weights, shape}, {gradient, shape}}, {{"rate", rate}}};
}

double element(const family::Value& value, std::int64_t i) {
    const auto at = static_cast<std::size_t>(i * bytes_of(value.type.type));
    if (value.type.type == ElementType::F32) {
        float single = 0;
        std::memcpy(&single, &value.bytes[at], 4);
        return double{single};
    }
    std::uint16_t half = 0;
    std::memcpy(&half, &value.bytes[at], 2);
    return double{f16_to_f32(half)};
}

} // namespace

TEST_CASE("FP16 weights descend along FP32 gradients wherever both stand",
          "[kernels][elementwise]") {
    for (const auto& shape : std::vector<std::vector<std::int64_t>>{
             {16, 32}, {9, 7}, {1, 1}, {7, 33}, {3, 250}, {40, 17}}) {
        for (const Stand weights : test::kStands) {
            for (const Stand gradient : test::kStands) {
                const auto request = descent(ElementType::F16, ElementType::F32, shape, 0.01);
                CAPTURE(shape, static_cast<int>(weights), static_cast<int>(gradient));
                const auto run = test::run_step(elementwise::sgd(), request, {weights, gradient},
                                                {test::random_value(request.inputs[0], 1),
                                                 test::random_value(request.inputs[1], 2)});
                INFO(run.checked.sentence);
                CHECK(run.checked.passed);
                CHECK(run.checked.elements == shape[0] * shape[1]);
            }
        }
    }
}

TEST_CASE("descent goes against the gradient, by the rate", "[kernels][elementwise]") {
    for (const auto& [weights, gradient] : {std::pair{ElementType::F16, ElementType::F16},
                                            {ElementType::F16, ElementType::F32},
                                            {ElementType::F32, ElementType::F32}}) {
        constexpr double kRate = 0.25;
        const auto request = descent(weights, gradient, {13}, kRate);
        const auto w = test::value_of(
            request.inputs[0], [](std::int64_t i) { return 2.0 + 0.5 * static_cast<double>(i); });
        const auto g = test::value_of(request.inputs[1],
                                      [](std::int64_t i) { return 1.0 - static_cast<double>(i); });
        const auto run =
            test::run_step(elementwise::sgd(), request, {Stand::Host, Stand::Host}, {w, g});
        CHECK(run.checked.passed);
        for (std::int64_t i = 0; i < 13; ++i) { // these are not rounded
            CHECK(element(run.output, i) == element(w, i) - kRate * element(g, i));
        }
    }
}

TEST_CASE("descent with FP32 gradients rounds once", "[kernels][elementwise]") {
    // 1 + 0.75 of the last place: the product alone would vanish beside 1 only if it was half of it
    const auto request = descent(ElementType::F16, ElementType::F32, {4}, 1);
    const auto w = test::value_of(request.inputs[0], [](auto) { return 1; });
    const auto g = test::value_of(request.inputs[1], [](auto) { return -0.75 * 0x1p-10; });
    const auto run =
        test::run_step(elementwise::sgd(), request, {Stand::Host, Stand::Host}, {w, g});
    CHECK(element(run.output, 0) == 1 + 0x1p-10);
}

TEST_CASE("descent refuses what does not go together", "[kernels][elementwise]") {
    const auto refusal = [](const family::Family& family, const Request& request) {
        try {
            static_cast<void>(family.make(request));
        } catch (const family::Refused& refused) {
            return std::to_string(refused.input) + refused.option + ": " + refused.what();
        }
        return std::string("taken");
    };
    CHECK(refusal(elementwise::sgd(), descent(ElementType::F32, ElementType::F16, {4}, 1)) ==
          "1: got f16 for weights of f32, expected f32; cast it before");
    CHECK(refusal(elementwise::sgd(), descent(ElementType::F16, ElementType::F16, {4}, 1e6)) ==
          "-1rate: got 1000000, expected a number that f16 can hold");
    CHECK(refusal(elementwise::sgd(), {{{ElementType::F16, {4}}, {ElementType::F16, {5}}}, {}}) ==
          "1: got 4 and 5, expected equal shapes");
    CHECK(refusal(elementwise::momentum(), {{{ElementType::F32, {4}}, {ElementType::F16, {4}}},
                                            {}}) == "1: got f32 and f16, expected equal types");
}
