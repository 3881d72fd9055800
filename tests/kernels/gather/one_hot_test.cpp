// SPDX-License-Identifier: MIT
#include "kernels/family/numbers.h"
#include "kernels/gather/one_hot.h"
#include "tests/kernels/elementwise/elementwise_bench.h"

#include <catch2/catch.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace tessera;
using test::Stand;

family::Request request_of(std::int64_t rows, std::int64_t classes, ElementType type) {
    return {{{ElementType::U32, {rows}}},
            {{"classes", static_cast<double>(classes)}, {"type", std::string(name_of(type))}}};
}

} // namespace

TEST_CASE("a list of classes becomes rows of zeros with a 1 in the predicted cycles",
          "[kernels][gather]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const std::int64_t classes : {1, 2, 3, 10, 37}) {
            for (const std::int64_t rows : {1, 40}) {
                for (const std::int64_t tiles : {2, 6}) {
                    for (const std::int64_t workers : {1, 6, 7}) {
                        for (const Stand stand : {Stand::Host, Stand::OddRuns}) {
                            // one class in four is none, and another one is far beyond
                            const auto request = request_of(rows, classes, type);
                            const auto ids = test::value_of(request.inputs[0], [&](std::int64_t i) {
                                return i % 4 == 3   ? static_cast<double>(classes)
                                       : i % 9 == 8 ? 4294967295.0
                                                    : static_cast<double>(5 * i % classes);
                            });
                            spec::MachineSpec machine;
                            machine.tile.workers = workers;
                            CAPTURE(name_of(type), classes, rows, tiles, workers);
                            const auto run = test::run_step(gather::one_hot(), request, {stand},
                                                            {ids}, machine, tiles);
                            INFO(run.checked.sentence);
                            CHECK(run.checked.passed);
                            CHECK(run.checked.elements == rows * classes);
                            CHECK(run.outcome.step_cycles.back() ==
                                  gather::one_hot_cycles(machine, type, (rows + tiles - 1) / tiles,
                                                         classes));
                        }
                    }
                }
            }
        }
    }
}

TEST_CASE("a wrong class is found", "[kernels][gather]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        const auto request = request_of(3, 5, type);
        const auto ids = test::value_of(request.inputs[0], [](auto i) { return double(i + 1); });
        auto run = test::run_step(gather::one_hot(), request, {Stand::Host}, {ids}, {}, 2);
        REQUIRE(run.checked.passed);
        const auto size = static_cast<std::size_t>(bytes_of(type));
        std::swap(run.output.bytes[7 * size + size - 1], run.output.bytes[8 * size + size - 1]);
        const auto checked =
            gather::one_hot().make(request)->check(std::array{&ids}, run.output, 1);
        CHECK(checked.failed_elements == 2);
    }
}

TEST_CASE("one_hot refuses what is no list or no number of classes", "[kernels][gather]") {
    const auto refusal = [](const family::TensorType& ids, double classes) {
        try {
            static_cast<void>(gather::one_hot().make({{ids}, {{"classes", classes}}}));
        } catch (const family::Refused& refused) {
            return std::to_string(refused.input) + refused.option + ": " + refused.what();
        }
        return std::string("taken");
    };
    CHECK(refusal({ElementType::U32, {3}}, 4) == "taken");
    CHECK(refusal({ElementType::I32, {3}}, 4) == "taken");
    CHECK(refusal({ElementType::U32, {3, 2}}, 4) ==
          "0: got 3 x 2 of u32, expected a list of numbers of type u32 or i32");
    CHECK(refusal({ElementType::F32, {3}}, 4) ==
          "0: got 3 of f32, expected a list of numbers of type u32 or i32");
    CHECK(refusal({ElementType::U32, {3}}, 0.5) ==
          "-1classes: got 0.5, expected a whole number from 1 on");
}
