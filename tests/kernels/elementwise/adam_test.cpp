// SPDX-License-Identifier: MIT
// Weights that go against the moments of their gradient, wherever they stand: Adam, and LAMB, and what they refuse.
#include "kernels/elementwise/adam.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/family/numbers.h"
#include "tests/kernels/elementwise/elementwise_bench.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace tessera;
using family::Request;
using test::Stand;

constexpr std::int64_t kTypes = 2;
constexpr ElementType kNumbers[kTypes] = {ElementType::F16, ElementType::F32};

Request request_of(ElementType weights, ElementType gradient,
                   const std::vector<std::int64_t>& shape,
                   const std::map<std::string, family::OptionValue>& options = {}) {
    Request request{{{weights, shape}, {gradient, shape}}, options};
    const auto state = elementwise::adam_state(request.inputs[0]);
    request.inputs.insert(request.inputs.end(), state.begin(), state.end());
    return request;
}

/// The second moment and the corrections are positive.
std::vector<family::Value> values_of(const Request& request) {
    std::vector<family::Value> values;
    for (const family::TensorType& type : request.inputs) {
        values.push_back(test::random_value(type, values.size() + 1, 2));
    }
    const family::Value drawn = values[3];
    values[3] = test::value_of(
        request.inputs[3], [&](std::int64_t i) { return std::fabs(family::number_at(drawn, i)); });
    values[4] = test::value_of(
        request.inputs[4], [](std::int64_t i) { return 0.25 + 0.125 * static_cast<double>(i); });
    return values;
}

const family::Family* const kFamilies[] = {&elementwise::adam(), &elementwise::lamb()};

test::StepRun run(const family::Family& family, const Request& request, Stand stand,
                  const spec::MachineSpec& machine = {}, std::int64_t tiles = 4) {
    // the corrections have two elements alone
    return test::run_step(family, request, {stand, stand, stand, stand, Stand::Host},
                          values_of(request), machine, tiles);
}

std::string refusal(const Request& request) {
    try {
        static_cast<void>(elementwise::adam().make(request));
    } catch (const family::Refused& refused) {
        return std::to_string(refused.input) + refused.option + ": " + refused.what();
    }
    return "taken";
}

} // namespace

TEST_CASE("Adam and LAMB are right wherever weights and moments stand", "[kernels][elementwise]") {
    const auto check = [](const family::Family& family, ElementType weights, ElementType gradient,
                          const std::vector<std::int64_t>& shape, Stand stand) {
        CAPTURE(family.name, name_of(weights), name_of(gradient), shape, static_cast<int>(stand));
        const auto outcome =
            run(family, request_of(weights, gradient, shape, {{"weight_decay", 0.25}}), stand);
        INFO(outcome.checked.sentence);
        CHECK(outcome.checked.passed);
        constexpr std::int64_t kOfElement = 3; // the weight and both moments
        CHECK(outcome.checked.elements == kOfElement * shape[0] * shape[1] + 2);
    };
    for (const auto& shape : std::vector<std::vector<std::int64_t>>{
             {16, 32}, {9, 7}, {1, 1}, {7, 33}, {3, 250}, {40, 17}}) {
        for (const Stand stand : test::kStands) {
            for (const family::Family* family : kFamilies) {
                for (const ElementType weights : kNumbers) {
                    for (const ElementType gradient : kNumbers) {
                        check(*family, weights, gradient, shape, stand);
                    }
                }
            }
        }
    }
}

TEST_CASE("LAMB takes the norms of all tiles, of some or many", "[kernels][elementwise]") {
    for (const std::int64_t tiles : {1, 2, 31, 33, 80}) {
        for (const ElementType type : kNumbers) {
            CAPTURE(tiles, name_of(type));
            const auto request = request_of(type, type, {83, 36}, {{"rate", 0.25}});
            const auto outcome =
                run(elementwise::lamb(), request, Stand::PaddedRows, {}, tiles + tiles % 2);
            INFO(outcome.checked.sentence);
            CHECK(outcome.checked.passed);
        }
    }
}

TEST_CASE("LAMB goes by the rate alone while weights are zero, or do not change",
          "[kernels][elementwise]") {
    constexpr double kRate = 0.25;
    for (const double gradient : {0.0, 0.5}) {
        for (const double weight : {0.0, 3.0}) {
            const auto request = request_of(ElementType::F32, ElementType::F32, {13},
                                            {{"rate", kRate}, {"epsilon", 1e-12}});
            std::vector<family::Value> values;
            for (const family::TensorType& type : request.inputs) {
                const double value = values.empty() ? weight : values.size() == 1 ? gradient : 0;
                values.push_back(test::value_of(type, [value](auto) { return value; }));
            }
            const auto outcome = test::run_step(elementwise::lamb(), request,
                                                std::vector(values.size(), Stand::Host), values);
            CAPTURE(gradient, weight);
            INFO(outcome.checked.sentence);
            CHECK(outcome.checked.passed);
            // the first direction is 1 for each element, or 0: its norm is that of the weights over their size
            const double trust = gradient == 0 || weight == 0 ? 1 : weight;
            const double wanted = weight - (gradient == 0 ? 0 : kRate * trust);
            for (std::int64_t i = 0; i < 13; ++i) {
                CHECK(family::number_at(outcome.output, i) == Approx(wanted).margin(1e-6));
            }
        }
    }
}

TEST_CASE("Adam and LAMB are right with any number of workers", "[kernels][elementwise]") {
    for (std::int64_t workers = 1; workers <= 8; ++workers) {
        spec::MachineSpec machine;
        machine.tile.workers = workers;
        for (const Stand stand : {Stand::Cells, Stand::OddRuns}) {
            CAPTURE(workers, static_cast<int>(stand));
            const auto request = request_of(ElementType::F16, ElementType::F32, {41, 23});
            for (const family::Family* family : kFamilies) {
                CAPTURE(family->name);
                CHECK(run(*family, request, stand, machine, 1).checked.passed);
            }
        }
    }
}

TEST_CASE("the first step of Adam goes by the rate against each gradient",
          "[kernels][elementwise]") {
    constexpr double kRate = 0.25;
    const auto request =
        request_of(ElementType::F32, ElementType::F32, {13}, {{"rate", kRate}, {"epsilon", 1e-12}});
    const auto gradient = [](std::int64_t i) { return i % 2 == 0 ? 0.5 : -2.0; };
    std::vector<family::Value> values;
    for (const family::TensorType& type : request.inputs) {
        values.push_back(test::value_of(type, [&](std::int64_t i) {
            return values.size() == 1 ? gradient(i) : values.empty() ? 1 : 0;
        }));
    }
    const std::vector<Stand> stands(values.size(), Stand::Host);
    const auto outcome = test::run_step(elementwise::adam(), request, stands, values);
    CHECK(outcome.checked.passed);
    for (std::int64_t i = 0; i < 13; ++i) {
        const double wanted = 1 - std::copysign(kRate, gradient(i));
        CHECK(family::number_at(outcome.output, i) == Approx(wanted).epsilon(1e-6));
    }
}

TEST_CASE("Adam tells a wrong result of each of its outputs", "[kernels][elementwise]") {
    const auto request = request_of(ElementType::F32, ElementType::F32, {5, 7});
    const auto step = elementwise::adam().make(request);
    const auto values = values_of(request);
    std::vector<const family::Value*> inputs;
    for (const family::Value& value : values) {
        inputs.push_back(&value);
    }
    // the step left nothing: weights, moments and corrections as they were
    const std::vector<family::Value> unchanged{values[0], values[2], values[3], values[4]};
    CHECK_FALSE(step->check(inputs, unchanged, 1).passed);
    const auto types = step->outputs();
    REQUIRE(types.size() == unchanged.size());
    for (std::size_t i = 0; i < types.size(); ++i) {
        CHECK(types[i].shape == unchanged[i].type.shape);
        CHECK(types[i].type == unchanged[i].type.type);
    }
}

TEST_CASE("Adam refuses what does not go together", "[kernels][elementwise]") {
    const auto with = [](std::size_t input, const family::TensorType& type) {
        Request request = request_of(ElementType::F16, ElementType::F16, {4});
        request.inputs[input] = type;
        return refusal(request);
    };
    CHECK(with(0, {ElementType::F16, {4}}) == "taken");
    CHECK(with(1, {ElementType::F16, {5}}) == "1: got 4 and 5, expected equal shapes");
    CHECK(with(2, {ElementType::F16, {4}}) == "2: moment_1: got f16, expected f32");
    CHECK(with(3, {ElementType::F32, {2, 2}}) == "3: got 4 and 2 x 2, expected equal shapes");
    CHECK(with(4, {ElementType::F32, {3}}) ==
          "4: corrections: got 3, expected 2: one for each moment");
    const auto told = [](const char* key, double value) {
        return refusal(request_of(ElementType::F16, ElementType::F16, {4}, {{key, value}}));
    };
    CHECK(told("beta1", 0) == "taken");
    CHECK(told("beta1", 1) == "-1beta1: got 1, expected at least 0 and less than 1");
    CHECK(told("beta2", -0.5) == "-1beta2: got -0.5, expected at least 0 and less than 1");
    CHECK(told("epsilon", 0) ==
          "-1epsilon: got 0, expected more than 0, and no subnormal number of f32");
    CHECK(told("rate", 1e39) == "-1rate: got 1e+39, expected a number that f32 can hold");
}
