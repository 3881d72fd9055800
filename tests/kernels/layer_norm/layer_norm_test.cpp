// SPDX-License-Identifier: MIT
#include "kernels/family/numbers.h"
#include "kernels/layer_norm/gradient.h"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/layer_norm/operands.h"
#include "tests/kernels/elementwise/elementwise_bench.h"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tessera;
using family::TensorType;
using test::Stand;

constexpr ElementType kTypes[] = {ElementType::F16, ElementType::F32};
constexpr std::pair<std::int64_t, std::int64_t> kShapes[] = {
    {1, 1},  {1, 2},  {5, 3},   {4, 4},   {3, 5},   {7, 6},
    {13, 7}, {40, 8}, {23, 65}, {1, 511}, {1, 513}, {7, 512}};

family::Request forward_request(const TensorType& x, double epsilon = 1e-5) {
    const TensorType vector{x.type, {x.shape.back()}};
    return {{x, vector, vector}, {{"epsilon", epsilon}}};
}

std::vector<family::Value> forward_values(const TensorType& x, std::uint64_t seed) {
    const TensorType vector{x.type, {x.shape.back()}};
    return {test::random_value(x, seed, 2), test::random_value(vector, seed + 1, 1),
            test::random_value(vector, seed + 2, 1)};
}

family::Request gradient_request(const TensorType& x) {
    const TensorType rows{ElementType::F32, {x.shape.begin(), x.shape.end() - 1}};
    return {{x, x, {x.type, {x.shape.back()}}, rows, rows}, {}};
}

std::vector<family::Value> gradient_values(const TensorType& x, std::uint64_t seed) {
    const auto request = gradient_request(x);
    return {test::random_value(x, seed, 2), test::random_value(x, seed + 1, 1),
            test::random_value(request.inputs[2], seed + 2, 1),
            test::random_value(request.inputs[3], seed + 3, 1),
            test::random_value(request.inputs[4], seed + 4, 3)};
}

test::StepRun forward(const TensorType& x, const std::vector<family::Value>& values,
                      std::vector<Stand> stands = {Stand::Host, Stand::Host, Stand::Host},
                      const spec::MachineSpec& machine = {}, std::int64_t tiles = 4) {
    return test::run_step(layer_norm::family(), forward_request(x), stands, values, machine, tiles);
}

test::StepRun gradient(const TensorType& x, const std::vector<family::Value>& values,
                       std::vector<Stand> stands = std::vector(5, Stand::Host),
                       const spec::MachineSpec& machine = {}, std::int64_t tiles = 4) {
    return test::run_step(layer_norm::gradient(), gradient_request(x), stands, values, machine,
                          tiles);
}

/// Of the step that has the vertices, which stands last.
Cycles work_cycles(const test::StepRun& run) {
    REQUIRE_FALSE(run.outcome.step_cycles.empty());
    return run.outcome.step_cycles.back();
}

/// Any shape, on any tiles, by any workers: right, in the predicted cycles, and as cut as they say.
template <class Run, class Values, class Predicted>
void expect_right(const Run& run, const Values& values, const Predicted& predicted,
                  std::size_t inputs, std::int64_t elements_of_row, std::int64_t results_of_row) {
    for (const ElementType type : kTypes) {
        for (const auto& [m, n] : kShapes) {
            for (const std::int64_t tiles : {2, 6}) {
                for (std::int64_t workers = 1; workers <= 8; ++workers) {
                    CAPTURE(name_of(type), m, n, tiles, workers);
                    spec::MachineSpec machine;
                    machine.tile.workers = workers;
                    const TensorType shape{type, {m, n}};
                    const auto seed = static_cast<std::uint64_t>(n);
                    const auto outcome = run(shape, values(shape, seed),
                                             std::vector(inputs, Stand::Host), machine, tiles);
                    INFO(outcome.checked.sentence);
                    CHECK(outcome.checked.passed);
                    CHECK(outcome.checked.elements == m * (elements_of_row * n + results_of_row));
                    CHECK(work_cycles(outcome) ==
                          predicted(machine, type, (m + tiles - 1) / tiles, n));
                }
            }
        }
    }
}

} // namespace

TEST_CASE("layer norms of any shape are right in the predicted cycles", "[kernels][layer_norm]") {
    expect_right(forward, forward_values, layer_norm::cycles, 3, 1, 2);
}

TEST_CASE("gradients of layer norms of any shape are right in the predicted cycles",
          "[kernels][layer_norm]") {
    expect_right(gradient, gradient_values, layer_norm::gradient_cycles, 5, 2, 0);
}

TEST_CASE("layer norms are right wherever their inputs stand", "[kernels][layer_norm]") {
    for (const ElementType type : kTypes) {
        const TensorType shape{type, {9, 37}};
        for (const Stand x : test::kStands) {
            for (const Stand other : test::kStands) {
                CAPTURE(name_of(type), static_cast<int>(x), static_cast<int>(other));
                const auto made = forward(shape, forward_values(shape, 1), {x, other, other});
                INFO(made.checked.sentence);
                CHECK(made.checked.passed);
                const auto back =
                    gradient(shape, gradient_values(shape, 1), {x, other, x, other, x});
                INFO(back.checked.sentence);
                CHECK(back.checked.passed);
            }
        }
    }
}

TEST_CASE("workers share the rows of a layer norm where that is faster", "[kernels][layer_norm]") {
    const spec::MachineSpec machine;
    for (const ElementType type : kTypes) {
        const auto faster = [&](auto cycles) {
            const Cycles one = cycles(machine, type, 1, 512);
            const Cycles all = cycles(machine, type, machine.tile.workers, 512);
            CHECK(one < all / 3);
        };
        faster(layer_norm::cycles);
        faster(layer_norm::gradient_cycles);
    }
}

TEST_CASE("a layer norm has rows of mean 0 and variance 1, however far they are from 0",
          "[kernels][layer_norm]") {
    constexpr std::int64_t kColumns = 64;
    for (const ElementType type : kTypes) {
        for (const double base : {0.0, 100.0, -1000.0}) {
            const TensorType shape{type, {2, kColumns}};
            const TensorType vector{type, {kColumns}};
            // steps of 1, which every type has beside the base
            const auto x = test::value_of(shape, [&](std::int64_t i) {
                return base + static_cast<double>(i % kColumns % 7);
            });
            const auto outcome = forward(shape, {x, test::value_of(vector, [](auto) { return 1; }),
                                                 test::value_of(vector, [](auto) { return 0; })});
            CAPTURE(name_of(type), base);
            INFO(outcome.checked.sentence);
            CHECK(outcome.checked.passed);
            double sum = 0;
            double squares = 0;
            for (std::int64_t i = 0; i < kColumns; ++i) {
                const double y = family::number_at(outcome.output, i);
                sum += y;
                squares += y * y;
            }
            const double u = kColumns * unit_roundoff(type);
            CHECK(std::fabs(sum / kColumns) < 4 * u);
            CHECK(squares / kColumns == Approx(1).margin(4 * u));
        }
    }
}

TEST_CASE("a row of equal elements becomes the offset", "[kernels][layer_norm]") {
    for (const ElementType type : kTypes) {
        const TensorType shape{type, {3, 32}};
        auto values = forward_values(shape, 5);
        values[0] = test::value_of(shape, [](auto) { return 8; });
        const auto outcome = forward(shape, values);
        CHECK(outcome.checked.passed);
        for (std::int64_t i = 0; i < shape.elements(); ++i) {
            CHECK(family::number_at(outcome.output, i) == family::number_at(values[2], i % 32));
        }
    }
}

TEST_CASE("a row too large for f32 becomes the offset", "[kernels][layer_norm]") {
    const TensorType shape{ElementType::F32, {1, 4}};
    auto values = forward_values(shape, 5);
    values[0] = test::value_of(shape, [](std::int64_t i) { return i % 2 == 0 ? 1e30 : -1e30; });
    const auto outcome = forward(shape, values);
    INFO(outcome.checked.sentence);
    CHECK(outcome.checked.passed);
    CHECK(family::number_at(outcome.output, 0) == family::number_at(values[2], 0));
}

TEST_CASE("the checks of layer norms find a wrong element", "[kernels][layer_norm]") {
    for (const ElementType type : kTypes) {
        const TensorType shape{type, {3, 5}};
        const auto wrong_is_found = [&](const family::Family& family,
                                        const family::Request& request,
                                        const std::vector<family::Value>& values,
                                        test::StepRun run) {
            REQUIRE(run.checked.passed);
            const auto step = family.make(request);
            std::vector<const family::Value*> inputs;
            for (const auto& value : values) {
                inputs.push_back(&value);
            }
            const auto types = step->outputs();
            for (std::size_t output = 0; output < types.size(); ++output) {
                std::vector<family::Value> outputs;
                for (std::size_t i = 0; i < types.size(); ++i) {
                    outputs.push_back(
                        {types[i], run.outcome.tensors.at("result " + std::to_string(i)), false});
                }
                CHECK(step->check(inputs, outputs, 1).passed);
                const Bytes element = bytes_of(types[output].type);
                outputs[output].bytes[static_cast<std::size_t>(2 * element + element - 1)] ^=
                    std::byte{0x04};
                CHECK(step->check(inputs, outputs, 1).failed_elements == 1);
            }
        };
        const auto values = forward_values(shape, 2);
        wrong_is_found(layer_norm::family(), forward_request(shape), values,
                       forward(shape, values));
        const auto back = gradient_values(shape, 2);
        wrong_is_found(layer_norm::gradient(), gradient_request(shape), back,
                       gradient(shape, back));
    }
}

TEST_CASE("checks of layer norms allow what their sums may be off, and not much more",
          "[kernels][layer_norm]") {
    constexpr std::int64_t kColumns = 16;
    constexpr double kEpsilon = 1e-5;
    const double u = unit_roundoff(ElementType::F32);
    const TensorType shape{ElementType::F32, {1, kColumns}};
    const TensorType vector{ElementType::F32, {kColumns}};
    const TensorType number{ElementType::F32, {1}};
    const auto step = layer_norm::family().make(forward_request(shape, kEpsilon));
    const auto failed = [&](const family::Value& x, double mean, double deviation) {
        // rows of scale and offset 0 are 0, whatever else is off
        const auto zeros = test::value_of(vector, [](auto) { return 0; });
        const std::vector<const family::Value*> inputs{&x, &zeros, &zeros};
        const std::vector<family::Value> outputs{
            test::value_of(shape, [](auto) { return 0; }),
            test::value_of(number, [&](auto) { return mean; }),
            test::value_of(number, [&](auto) { return deviation; })};
        return step->check(inputs, outputs, 1).failed_elements;
    };
    // A sum of n numbers is off by n roundings of their magnitudes, at most: of numbers whose mean is
    // far below these, an error in it shows well beside its own rounding.
    for (const double size : {1e-4, 1.0, 100.0}) {
        const auto x = test::value_of(
            shape, [&](std::int64_t i) { return i == 0 ? size : (i % 2 == 0 ? size : -size); });
        const double exact = 1 / std::sqrt(size * size + kEpsilon);
        const double allowed = (kColumns + 12) * u * size;
        CAPTURE(size);
        CHECK(failed(x, 0, exact) == 0);
        CHECK(failed(x, 0.95 * allowed, exact) == 0);
        CHECK(failed(x, -0.95 * allowed, exact) == 0);
        CHECK(failed(x, 1.05 * allowed, exact) == 1);
        CHECK(failed(x, -1.05 * allowed, exact) == 1);
    }
    // Of equal numbers the variance is 0, and only the error of their mean can be in it.
    const double size = 1e5;
    const auto x = test::value_of(shape, [&](auto) { return size; });
    const double mean_off = (kColumns + 12) * u * size;
    const double variance_off = mean_off * mean_off * (1 + (kColumns + 16) * u);
    REQUIRE(variance_off > kEpsilon);
    const auto with_variance = [&](double variance) { return 1 / std::sqrt(variance + kEpsilon); };
    CHECK(failed(x, size, with_variance(0)) == 0);
    CHECK(failed(x, size, with_variance(0.95 * variance_off)) == 0);
    CHECK(failed(x, size, with_variance(1.05 * variance_off)) == 1);
    // A variance beyond F32 has no other reciprocal than 0, and the mean may be off by little of it.
    const auto large =
        test::value_of(shape, [](std::int64_t i) { return i % 2 == 0 ? 1e30 : -1e30; });
    CHECK(failed(large, 0, 0) == 0);
    CHECK(failed(large, 0, 1e-30) == 1);
    CHECK(failed(large, 0, 1) == 1);
}

TEST_CASE("numbers of rows are read where they stand beside the rows", "[kernels][layer_norm]") {
    const std::vector<graph::RowBlock> rows{
        {3, {}, 0, 3, 2, 64}, {3, {}, 1, 2, 2, 64}, {5, {}, 5, 1, 1, 64}};
    const graph::Tensor of{.name = "mean", .type = ElementType::F32, .shape = {2, 3}};
    const auto stands_there = [&](const auto& change) {
        graph::Graph graph("test");
        const auto made = layer_norm::add_of_rows(graph, of, rows);
        CHECK(graph.tensors[made.tensor.index].shape == of.shape);
        change(graph.tensors[made.tensor.index].pieces);
        const std::size_t tensors = graph.tensors.size();
        const auto found = layer_norm::of_rows(graph, of, made.tensor, rows);
        REQUIRE(found.blocks.size() == rows.size());
        for (std::size_t i = 0; i < rows.size();
             ++i) { // wherever they are, they are those of the rows
            const graph::Piece& piece = graph.tensors[found.tensor.index].pieces.at(i);
            CHECK(found.blocks[i].tile == rows[i].tile);
            CHECK(found.blocks[i].first_row == rows[i].first_row);
            CHECK(found.blocks[i].rows == rows[i].rows);
            CHECK(found.blocks[i].row_stride == rows[i].row_stride);
            CHECK(found.blocks[i].place.buffer == piece.place.buffer);
            CHECK(found.blocks[i].place.offset == piece.place.offset);
            CHECK(found.blocks[i].step == bytes_of(ElementType::F32));
        }
        CHECK((found.tensor == made.tensor) == (graph.tensors.size() == tensors));
        return found.tensor == made.tensor;
    };
    using Pieces = std::vector<graph::Piece>;
    CHECK(stands_there([](Pieces&) {}));
    CHECK(stands_there([](Pieces& pieces) { pieces[0].place.offset += 4; }));
    // a row alone has no next one
    CHECK(stands_there([](Pieces& pieces) { pieces[2].dims.at(0).host_stride += 1; }));
    CHECK(stands_there([](Pieces& pieces) { pieces[2].dims.at(0).tile_stride += 4; }));
    CHECK_FALSE(stands_there([](Pieces& pieces) { pieces[1].tile += 1; }));
    CHECK_FALSE(stands_there([](Pieces& pieces) { pieces[1].host_offset += 1; }));
    CHECK_FALSE(stands_there([](Pieces& pieces) { pieces[1].place.offset += 2; }));
    CHECK_FALSE(stands_there([](Pieces& pieces) { pieces[1].dims.at(0).count -= 1; }));
    CHECK_FALSE(stands_there([](Pieces& pieces) { pieces[1].dims.at(0).host_stride += 1; }));
    CHECK_FALSE(stands_there([](Pieces& pieces) { pieces[1].dims.at(0).tile_stride += 4; }));
    CHECK_FALSE(stands_there([](Pieces& pieces) { pieces[2].dims.push_back({1, 1, 4}); }));
    CHECK_FALSE(stands_there([](Pieces& pieces) { pieces.pop_back(); }));
    CHECK_FALSE(stands_there([](Pieces& pieces) { std::swap(pieces[0], pieces[1]); }));
    graph::Graph graph("test");
    const auto first = layer_norm::of_rows(graph, of, std::nullopt, rows);
    CHECK(first.tensor == layer_norm::of_rows(graph, of, first.tensor, rows).tensor);
    CHECK_FALSE(first.tensor == layer_norm::of_rows(graph, of, std::nullopt, rows).tensor);
}

TEST_CASE("layer norms refuse what does not go together", "[kernels][layer_norm]") {
    const auto refusal = [](const family::Family& family, const family::Request& request) {
        try {
            static_cast<void>(family.make(request));
        } catch (const family::Refused& refused) {
            return std::to_string(refused.input) + refused.option + ": " + refused.what();
        }
        return std::string("taken");
    };
    const TensorType half{ElementType::F16, {4, 6}};
    const TensorType vector{ElementType::F16, {6}};
    const TensorType rows{ElementType::F32, {4}};
    const auto of = [&](std::vector<TensorType> inputs, double epsilon = 1e-5) {
        return refusal(layer_norm::family(), {std::move(inputs), {{"epsilon", epsilon}}});
    };
    CHECK(of({half, vector, vector}) == "taken");
    CHECK(of({{ElementType::F16, {6}}, vector, vector}) ==
          "0: got a tensor of 1 size, expected rows and columns");
    CHECK(of({half, {ElementType::F16, {4}}, vector}) ==
          "1: scale: got 4 x 6 and 4, expected an element for each column");
    CHECK(of({half, vector, {ElementType::F32, {6}}}) ==
          "2: offset: got f16 and f32, expected equal types");
    CHECK(of({half, vector, vector}, 0) ==
          "-1epsilon: got 0, expected more than 0, and no subnormal number of f32");
    const auto of_gradient = [&](std::vector<TensorType> inputs) {
        return refusal(layer_norm::gradient(), {std::move(inputs), {}});
    };
    CHECK(of_gradient({half, half, vector, rows, rows}) == "taken");
    CHECK(of_gradient({half, {ElementType::F32, {4, 6}}, vector, rows, rows}) ==
          "1: got f16 and f32, expected equal types");
    CHECK(of_gradient({half, {ElementType::F16, {6, 4}}, vector, rows, rows}) ==
          "1: got 4 x 6 and 6 x 4, expected equal shapes");
    CHECK(of_gradient({half, half, vector, rows, {ElementType::F16, {4}}}) ==
          "4: deviation: got f16 of 4, expected f32 of 4, one for each row");
}
