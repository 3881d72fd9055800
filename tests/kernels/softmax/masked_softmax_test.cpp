// SPDX-License-Identifier: MIT
#include "kernels/family/numbers.h"
#include "kernels/softmax/softmax.h"
#include "kernels/softmax/softmax_rows.h"
#include "tests/kernels/elementwise/elementwise_bench.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace tessera;
using test::Stand;

constexpr ElementType kTypes[] = {ElementType::F16, ElementType::F32};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Options = std::map<std::string, family::OptionValue>;

test::StepRun run(const family::TensorType& type, const Options& options, const family::Value& x,
                  const spec::MachineSpec& machine = {}, std::int64_t tiles = 2) {
    return test::run_step(softmax::family(), {{type}, options}, {Stand::Host}, {x}, machine, tiles);
}

test::StepRun run_masked(const family::TensorType& type, const family::TensorType& mask_type,
                         const Options& options, const family::Value& x, const family::Value& mask,
                         std::vector<Stand> stands = {Stand::Host, Stand::Host},
                         const spec::MachineSpec& machine = {}, std::int64_t tiles = 2) {
    return test::run_step(softmax::family(), {{type, mask_type}, options}, stands, {x, mask},
                          machine, tiles);
}

/// Hides about a third of the columns.
family::Value mask_of(const family::TensorType& type, double hidden) {
    return test::value_of(
        type, [&](std::int64_t i) { return (i * 7 + 3) % 5 < 2 ? hidden : 0.25 * double(i % 3); });
}

std::vector<std::uint64_t> bits_of(const family::Value& value) {
    std::vector<std::uint64_t> bits;
    const auto size = static_cast<std::size_t>(bytes_of(value.type.type));
    for (std::size_t at = 0; at < value.bytes.size(); at += size) {
        std::uint64_t element = 0;
        std::memcpy(&element, &value.bytes[at], size);
        bits.push_back(element);
    }
    return bits;
}

} // namespace

TEST_CASE("softmaxes of scaled, masked and causal rows are right in the predicted cycles",
          "[kernels][softmax]") {
    for (const ElementType type : kTypes) {
        for (const std::int64_t n : {1, 2, 4, 5, 13, 64, 67}) {
            for (const std::int64_t workers : {1, 2, 5, 6, 7, 8}) {
                for (const bool is_masked : {false, true}) {
                    for (const bool is_causal : {false, true}) {
                        for (const std::int64_t tiles : {2, 34}) {
                            if (tiles > 2 && (workers != 6 || n < 64)) {
                                continue;
                            }
                            CAPTURE(name_of(type), n, workers, is_masked, is_causal, tiles);
                            spec::MachineSpec machine;
                            machine.tile.workers = workers;
                            const family::TensorType shape{type, {n, n}};
                            const family::TensorType columns{type, {n}};
                            const Options options{{"scale", 0.375}, {"causal", is_causal}};
                            const auto x = test::random_value(shape, static_cast<std::uint64_t>(n));
                            const auto outcome =
                                is_masked ? run_masked(shape, columns, options, x,
                                                       mask_of(columns, -kInfinity),
                                                       {Stand::Host, Stand::Host}, machine, tiles)
                                          : run(shape, options, x, machine, tiles);
                            INFO(outcome.checked.sentence);
                            CHECK(outcome.checked.passed);
                            CHECK(outcome.checked.elements == n * n);
                            // rows are dealt to tiles, the first of which have one more
                            Cycles longest = 0;
                            std::int64_t first = 0;
                            for (std::int64_t tile = 0; tile < std::min(tiles, n); ++tile) {
                                const std::int64_t rows = n / tiles + (tile < n % tiles ? 1 : 0);
                                longest = std::max(
                                    longest, softmax::cycles(machine, type,
                                                             {.scale = 0.375F,
                                                              .is_masked = is_masked,
                                                              .is_causal = is_causal},
                                                             {.count = rows, .first = first}, n));
                                first += rows;
                            }
                            CHECK(outcome.outcome.step_cycles.back() == longest);
                        }
                    }
                }
            }
        }
    }
}

TEST_CASE("slices of scaled and masked rows are right in the predicted cycles",
          "[kernels][softmax]") {
    constexpr std::int64_t kColumns = 1536;
    const spec::MachineSpec machine;
    for (const ElementType type : kTypes) {
        for (const std::int64_t tiles : {13, 40}) {
            const family::TensorType shape{type, {2, 3, kColumns}};
            const auto x = test::random_value(shape, 8);
            const Options options{{"scale", 0.375}};
            for (const auto& sizes :
                 std::vector<std::vector<std::int64_t>>{{}, {kColumns}, {2, kColumns}}) {
                CAPTURE(name_of(type), tiles, sizes);
                const bool is_masked = !sizes.empty();
                const softmax::Form form{.scale = 0.375F, .is_masked = is_masked};
                const std::int64_t slices =
                    softmax::slices_of(machine, type, form, {6, kColumns, tiles, 0, true});
                REQUIRE(slices > 1);
                const family::TensorType mask{type, sizes};
                const auto outcome =
                    is_masked ? run_masked(shape, mask, options, x, mask_of(mask, -kInfinity),
                                           {Stand::Host, Stand::OddRuns}, machine, tiles)
                              : run(shape, options, x, machine, tiles);
                INFO(outcome.checked.sentence);
                CHECK(outcome.checked.passed);
                const auto cycles = softmax::slice_cycles(machine, type, form, kColumns, slices);
                const auto& steps = outcome.outcome.step_cycles;
                REQUIRE(steps.size() >= 3);
                CHECK(steps[steps.size() - 3] == cycles.parts);
                CHECK(steps.back() == cycles.join);
            }
        }
    }
}

TEST_CASE("each matrix of a batch is masked by its row", "[kernels][softmax]") {
    for (const ElementType type : kTypes) {
        for (const bool is_causal : {false, true}) {
            for (const std::int64_t n : {9, 66}) {
                const family::TensorType shape{type, {3, 2, n, n}};
                const auto x = test::random_value(shape, 5);
                const Options options{{"scale", -0.25}, {"causal", is_causal}};
                for (const auto& sizes :
                     std::vector<std::vector<std::int64_t>>{{n}, {3, n}, {3, 2, n}}) {
                    const family::TensorType mask{type, sizes};
                    for (const Stand stand : {Stand::Host, Stand::OddRuns}) {
                        for (const std::int64_t tiles : {2, 6, 34}) {
                            CAPTURE(name_of(type), is_causal, sizes, tiles);
                            const auto outcome =
                                run_masked(shape, mask, options, x, mask_of(mask, -10000),
                                           {Stand::Host, stand}, {}, tiles);
                            INFO(outcome.checked.sentence);
                            CHECK(outcome.checked.passed);
                        }
                    }
                }
            }
        }
    }
}

TEST_CASE("a softmax reads rows where they stand and tells their numbers", "[kernels][softmax]") {
    for (const ElementType type : kTypes) {
        const family::TensorType shape{type, {12, 12}};
        const family::TensorType mask{type, {12}};
        for (const Stand x : test::kStands) {
            for (const Stand stand : test::kStands) {
                CAPTURE(name_of(type), static_cast<int>(x), static_cast<int>(stand));
                const auto outcome =
                    run_masked(shape, mask, {{"causal", true}}, test::random_value(shape, 3),
                               mask_of(mask, -3), {x, stand}, {}, 4);
                INFO(outcome.checked.sentence);
                CHECK(outcome.checked.passed);
            }
        }
    }
}

TEST_CASE("what a mask or a row's number hides is 0, and a row of nothing else too",
          "[kernels][softmax]") {
    for (const ElementType type : kTypes) {
        for (const std::int64_t n : {8, 7, 64, 67}) {
            for (const std::int64_t rows_of_tile : {n / 2, std::int64_t{2}}) {
                CAPTURE(name_of(type), n);
                const std::int64_t tiles = (n / rows_of_tile + 1) / 2 * 2;
                const family::TensorType shape{type, {n, n}};
                const family::TensorType mask{type, {n}};
                const auto x = test::random_value(shape, 4);
                const auto causal = bits_of(run(shape, {{"causal", true}}, x, {}, tiles).output);
                const auto hidden =
                    bits_of(run_masked(shape, mask, {}, x,
                                       test::value_of(mask, [](auto) { return -kInfinity; }),
                                       {Stand::Host, Stand::Host}, {}, tiles)
                                .output);
                const double finite = type == ElementType::F16 ? -65504 : -1e30;
                const auto all = run_masked(
                    shape, mask, {}, x,
                    test::value_of(mask, [&](std::int64_t i) { return i == 2 ? 0 : finite; }),
                    {Stand::Host, Stand::Host}, {}, tiles);
                CHECK(all.checked.passed);
                for (std::int64_t i = 0; i < n * n; ++i) {
                    const auto at = static_cast<std::size_t>(i);
                    CHECK(hidden[at] == 0);
                    CHECK((causal[at] == 0 || i % n <= i / n));
                    CHECK((i % n == 2) == (family::element_of(all.output, i) == 1));
                    if (i % n == 0) {
                        CHECK(causal[at] != 0);
                    }
                }
                CHECK(family::element_of(run(shape, {{"causal", true}}, x, {}, tiles).output, 0) ==
                      1);
            }
        }
    }
}

TEST_CASE("a NaN shows in each row that sees it", "[kernels][softmax]") {
    for (const ElementType type : kTypes) {
        for (const std::int64_t n : {6, 66}) {
            const family::TensorType shape{type, {n, n}};
            const auto x = test::value_of(shape, [&](std::int64_t i) {
                return i % n == 3 && i / n >= 3 ? std::numeric_limits<double>::quiet_NaN()
                                                : double(i % 7);
            });
            const auto outcome = run(shape, {{"scale", 2.0}, {"causal", true}}, x);
            INFO(outcome.checked.sentence);
            CHECK(outcome.checked.passed);
        }
    }
}

TEST_CASE("the check of a masked softmax finds a wrong element", "[kernels][softmax]") {
    for (const ElementType type : kTypes) {
        const family::TensorType shape{type, {5, 5}};
        const family::TensorType mask{type, {5}};
        const auto x = test::random_value(shape, 2);
        const auto hides = mask_of(mask, -kInfinity);
        const Options options{{"scale", 0.5}, {"causal", true}};
        auto outcome = run_masked(shape, mask, options, x, hides);
        REQUIRE(outcome.checked.passed);
        const auto step = softmax::family().make({{shape, mask}, options});
        for (const std::size_t element : {std::size_t{11}, std::size_t{9}}) { // seen, hidden
            auto wrong = outcome.output;
            wrong.bytes[(element + 1) * static_cast<std::size_t>(bytes_of(type)) - 1] ^=
                std::byte{0x04};
            const auto checked = step->check(std::array{&x, &hides}, wrong, 1);
            CHECK(checked.failed_elements == 1);
            CHECK_THAT(checked.sentence, Catch::Contains("element " + std::to_string(element)));
        }
    }
}

TEST_CASE("a masked softmax refuses what does not go together", "[kernels][softmax]") {
    const auto refusal = [](const std::vector<family::TensorType>& inputs,
                            const Options& options = {}) {
        try {
            static_cast<void>(softmax::family().make({inputs, options}));
        } catch (const family::Refused& refused) {
            return std::to_string(refused.input) + refused.option + ": " + refused.what();
        }
        return std::string("taken");
    };
    const family::TensorType x{ElementType::F16, {2, 3, 5, 6}};
    for (const auto& sizes : std::vector<std::vector<std::int64_t>>{{6}, {2, 6}, {2, 3, 6}}) {
        CHECK(refusal({x, {ElementType::F16, sizes}}) == "taken");
    }
    const std::string expected =
        " for 2 x 3 x 5 x 6, expected the columns, behind none or more of the first sizes that "
        "number matrices";
    CHECK(refusal({x, {ElementType::F16, {5}}}) == "1: got 5" + expected);
    CHECK(refusal({x, {ElementType::F16, {3, 6}}}) == "1: got 3 x 6" + expected);
    CHECK(refusal({x, x}) == "1: got 2 x 3 x 5 x 6" + expected);
    CHECK(refusal({x, {ElementType::F32, {6}}}) == "1: got f16 and f32, expected equal types");
    CHECK(refusal({x}, {{"causal", true}}) ==
          "-1causal: got 2 x 3 x 5 x 6, expected as many rows as columns");
    CHECK(refusal({x}, {{"scale", 1e39}}) ==
          "-1scale: got 1e+39, expected a number that f32 can hold");
}
