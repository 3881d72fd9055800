// SPDX-License-Identifier: MIT
// Losses as one number, and gradients that are multiplied by one.
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

constexpr ElementType kTypes[] = {ElementType::F16, ElementType::F32};

/// Of one tensor, or of two.
Request request_of(ElementType type, const std::vector<std::int64_t>& shape, std::size_t inputs,
                   const std::map<std::string, family::OptionValue>& options = {}) {
    return {std::vector<family::TensorType>(inputs, {type, shape}), options};
}

test::StepRun run(const Request& request, Stand stand, std::int64_t tiles = 4,
                  const spec::MachineSpec& machine = {}) {
    std::vector<family::Value> values;
    for (const family::TensorType& type : request.inputs) {
        values.push_back(test::random_value(type, values.size() + 1));
    }
    return test::run_step(elementwise::sum_of_squares(), request, std::vector(values.size(), stand),
                          values, machine, tiles);
}

std::string refusal(const family::Family& family, const Request& request) {
    try {
        static_cast<void>(family.make(request));
    } catch (const family::Refused& refused) {
        return std::to_string(refused.input) + refused.option + ": " + refused.what();
    }
    return "taken";
}

} // namespace

TEST_CASE("sums of squares are right wherever x and the target stand", "[kernels][elementwise]") {
    for (const ElementType type : kTypes) {
        for (const auto& shape : std::vector<std::vector<std::int64_t>>{
                 {16, 32}, {9, 7}, {1, 1}, {7, 33}, {3, 250}, {40, 17}}) {
            for (const Stand stand : test::kStands) {
                for (const std::size_t inputs : {1U, 2U}) {
                    CAPTURE(name_of(type), shape, static_cast<int>(stand), inputs);
                    const auto outcome =
                        run(request_of(type, shape, inputs, {{"factor", -0.5}}), stand);
                    INFO(outcome.checked.sentence);
                    CHECK(outcome.checked.passed);
                    CHECK(outcome.checked.elements == 1);
                }
            }
        }
    }
}

TEST_CASE("sums of squares are right on any tiles and by any workers", "[kernels][elementwise]") {
    for (const std::int64_t tiles : {1, 2, 30, 34, 80}) {
        for (const ElementType type : kTypes) {
            CAPTURE(tiles, name_of(type));
            CHECK(run(request_of(type, {83, 36}, 2), Stand::PaddedRows, tiles).checked.passed);
        }
    }
    for (std::int64_t workers = 1; workers <= 8; ++workers) {
        spec::MachineSpec machine;
        machine.tile.workers = workers;
        CAPTURE(workers);
        CHECK(
            run(request_of(ElementType::F16, {5, 23}, 1), Stand::Host, 2, machine).checked.passed);
    }
}

TEST_CASE("a sum of small whole squares is exact", "[kernels][elementwise]") {
    for (const ElementType type : kTypes) {
        const auto request = request_of(type, {37}, 2, {{"factor", 0.5}});
        const auto x =
            test::value_of(request.inputs[0], [](auto i) { return static_cast<double>(i % 7); });
        const auto target =
            test::value_of(request.inputs[1], [](auto i) { return i % 3 == 0 ? 2 : -1; });
        double wanted = 0;
        for (std::int64_t i = 0; i < 37; ++i) {
            const double difference = family::number_at(x, i) - family::number_at(target, i);
            wanted += 0.5 * difference * difference;
        }
        const auto outcome = test::run_step(elementwise::sum_of_squares(), request,
                                            {Stand::Host, Stand::OddRuns}, {x, target});
        CHECK(family::number_at(outcome.output, 0) == wanted);
        CHECK(outcome.checked.passed);
        auto wrong = outcome.output;
        wrong.bytes[2] ^= std::byte{1};
        CHECK_FALSE(elementwise::sum_of_squares()
                        .make(request)
                        ->check(std::vector<const family::Value*>{&x, &target}, wrong, 1)
                        .passed);
    }
}

TEST_CASE("elements are multiplied by a number of another step", "[kernels][elementwise]") {
    for (const ElementType type : kTypes) {
        for (const auto& shape : std::vector<std::vector<std::int64_t>>{{16, 32}, {9, 7}, {1, 1}}) {
            for (const Stand stand : test::kStands) {
                const Request request{{{type, shape}, {ElementType::F32, {1}}}, {{"factor", -3.0}}};
                const auto x = test::random_value(request.inputs[0], 1);
                const auto by = test::value_of(request.inputs[1], [](auto) { return 1.0 / 7; });
                CAPTURE(name_of(type), shape, static_cast<int>(stand));
                const auto outcome =
                    test::run_step(elementwise::scale_by(), request, {stand, Stand::Host}, {x, by});
                INFO(outcome.checked.sentence);
                CHECK(outcome.checked.passed);
                const double last = family::number_at(x, x.type.elements() - 1);
                CHECK(family::number_at(outcome.output, x.type.elements() - 1) ==
                      Approx(-3.0 / 7 * last).epsilon(1e-3));
            }
        }
    }
}

TEST_CASE("losses and their factors refuse what does not go together", "[kernels][elementwise]") {
    const family::TensorType half{ElementType::F16, {4}};
    const family::TensorType single{ElementType::F32, {4}};
    const family::TensorType one{ElementType::F32, {1}};
    CHECK(refusal(elementwise::sum_of_squares(), {{half, single}, {}}) ==
          "1: got f16 and f32, expected equal types");
    CHECK(refusal(elementwise::sum_of_squares(), {{half, {ElementType::F16, {5}}}, {}}) ==
          "1: got 4 and 5, expected equal shapes");
    CHECK(refusal(elementwise::sum_of_squares(), {{half}, {{"factor", 1e39}}}) ==
          "-1factor: got 1e+39, expected a number that f32 can hold");
    CHECK(refusal(elementwise::scale_by(), {{half, one}, {}}) == "taken");
    CHECK(refusal(elementwise::scale_by(), {{half, single}, {}}) ==
          "1: by: got 4, expected one element");
    CHECK(refusal(elementwise::scale_by(), {{half, {ElementType::F16, {1}}}, {}}) ==
          "1: by: got f16, expected f32");
}
