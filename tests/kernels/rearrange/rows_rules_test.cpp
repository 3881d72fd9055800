// SPDX-License-Identifier: MIT
// Softmax, reduce and changes of layout at their limits, and how far off a result may be.
#include "base/error.h"
#include "kernels/family/numbers.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/rearrange/rearrange.h"
#include "kernels/reduce/reduce.h"
#include "kernels/softmax/softmax.h"
#include "tests/kernels/family/matrix_step.h"

#include <fmt/format.h>

#include <limits>
#include <numeric>

namespace {

using namespace tessera;

constexpr ElementType kTypes[] = {ElementType::F16, ElementType::F32};

std::unique_ptr<family::Step> reduce_of(const family::TensorType& type, const std::string& op) {
    return reduce::family().make({{type}, {{"op", op}}});
}

/// What emitting refuses, or nothing.
std::string emit_refusal(family::Step& step, const spec::MachineSpec& machine) {
    graph::Graph graph("test");
    const std::optional<graph::TensorId> nowhere;
    exchange_plan::KnownSchedules known;
    try {
        static_cast<void>(step.emit(graph, {machine, known, 0, "step"}, std::array{nowhere}));
    } catch (const NotModelled& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("rows are as long as a repeat counts their rounds", "[kernels][rows]") {
    auto machine = test::machine_of(2);
    for (const auto generation : {spec::Generation::Ipu1, spec::Generation::Ipu2}) {
        machine.chip.generation = generation;
        const std::int64_t most = plan::most_rounds(machine);
        for (const ElementType type : kTypes) {
            CAPTURE(name_of(type), most);
            for (const std::int64_t more : {0, 1}) {
                const std::int64_t wide = 2 * most + 1 + more;
                // a row for each tile: slices of rows would not be too long
                const auto softmax =
                    softmax::family().make({{{type, {machine.chip.tiles, wide}}}, {}});
                CHECK(emit_refusal(*softmax, machine) ==
                      (more == 0 ? ""
                                 : fmt::format("softmax: not modelled: rows of {} elements, "
                                               "expected at most {}; see docs/kernels.md",
                                               wide, wide - 1)));
                const std::int64_t lanes = graph::kRowAlignment / bytes_of(type);
                const std::int64_t longest = lanes * most + lanes - 1 + more;
                const auto sum = reduce_of({type, {1, longest}}, "sum");
                CHECK(emit_refusal(*sum, machine) ==
                      (more == 0 ? ""
                                 : fmt::format("reduce: not modelled: rows of {} elements, "
                                               "expected at most {}; see docs/kernels.md",
                                               longest, longest - 1)));
            }
        }
    }
}

TEST_CASE("a softmax of FP16 has room for the rows that are worked on", "[kernels][softmax]") {
    for (const ElementType type : kTypes) {
        for (const std::int64_t rows : {1, 5, 6, 7, 20}) {
            for (const std::int64_t columns : {4, 5}) {
                const auto machine = test::machine_of(1);
                const auto step = softmax::family().make({{{type, {rows, columns}}}, {}});
                graph::Graph graph("test");
                const std::optional<graph::TensorId> nowhere;
                exchange_plan::KnownSchedules known;
                static_cast<void>(
                    step->emit(graph, {machine, known, 0, "step"}, std::array{nowhere}));
                Bytes room = 0;
                for (const auto& buffer : graph.buffers) {
                    for (const auto& held : buffer.held) {
                        room += buffer.name == "exponentials" ? held.bytes : 0;
                    }
                }
                CAPTURE(name_of(type), rows, columns);
                // single numbers, in pairs
                CHECK(room == (type == ElementType::F16
                                   ? std::min(rows, machine.tile.workers) * ((columns + 1) / 2) * 8
                                   : 0));
                CHECK(step->flops() == static_cast<double>(5 * rows * columns));
                CHECK(reduce_of({type, {rows, columns}}, "sum")->flops() ==
                      static_cast<double>(rows * columns));
            }
        }
    }
}

TEST_CASE("a softmax may be as far off as its roundings, written down once more",
          "[kernels][softmax]") {
    for (const ElementType type : kTypes) {
        for (const std::vector<double>& x :
             std::vector<std::vector<double>>{{0.5}, {1, 2, -3}, {4, -7.5, 0, 2, 1, 1, -30}}) {
            const auto n = static_cast<double>(x.size());
            const family::TensorType shape{type, {1, static_cast<std::int64_t>(x.size())}};
            const auto input = test::value_of(shape, x);
            const auto step = softmax::family().make({{shape}, {}});
            const double most = *std::max_element(x.begin(), x.end());
            const double all =
                std::accumulate(x.begin(), x.end(), 0.0, [&](double sum, double each) {
                    return sum + std::exp(each - most);
                });
            double largest = 0;
            double ratio = 0;
            for (const double each : x) {
                const double exact = std::exp(each - most) / all;
                const double computed = 0x1p-24 * (most - each + std::log(n) + n / 2 + 10);
                const bool half = type == ElementType::F16;
                const double tolerance =
                    exact * (computed + (half ? 0x1p-11 : 0x1p-24)) + (half ? 0x1p-25 : 0x1p-125);
                largest = std::max(largest, std::fabs(3 - exact));
                ratio = std::max(ratio, std::fabs(3 - exact) / tolerance);
            }
            const auto checked = step->check(
                std::array{&input}, test::value_of(shape, std::vector<double>(x.size(), 3)), 1);
            CAPTURE(name_of(type), x);
            CHECK(checked.max_error == Approx(largest).epsilon(1e-9));
            CHECK(checked.max_error_over_tolerance == Approx(ratio).epsilon(1e-9));
        }
    }
}

TEST_CASE("a sum may be as far off as its roundings, and a largest element not at all",
          "[kernels][reduce]") {
    for (const ElementType type : kTypes) {
        const bool half = type == ElementType::F16;
        for (const bool whole : {false, true}) {
            for (const std::vector<double>& x : std::vector<std::vector<double>>{
                     {3}, {1, -2, 4}, {60000, 4000, -1, 2, 5}, {-60000, -9000}}) {
                const auto n = static_cast<double>(x.size());
                const family::TensorType shape{type, {1, static_cast<std::int64_t>(x.size())}};
                auto input = test::value_of(shape, x);
                input.whole_numbers = whole;
                double sum = 0;
                double magnitudes = 0;
                for (std::int64_t i = 0; i < shape.elements(); ++i) {
                    const double each = family::element_of(input, i);
                    sum += each;
                    magnitudes += std::fabs(each);
                }
                double tolerance =
                    whole ? 0 : (n / (half ? 4 : 2) + 7) * 0x1p-24 * magnitudes + n * 0x1p-126;
                if (half) {
                    tolerance += std::fabs(sum) * 0x1p-11 + 0x1p-25;
                    sum = std::clamp(sum, -65504.0, 65504.0);
                }
                const double got = 12;
                const auto checked =
                    reduce_of(shape, "sum")
                        ->check(std::array{&input}, test::value_of({type, {1}}, {got}), 1);
                CAPTURE(name_of(type), whole, x);
                CHECK(checked.max_error == std::fabs(got - sum));
                if (tolerance > 0) {
                    CHECK(checked.max_error_over_tolerance ==
                          Approx(std::fabs(got - sum) / tolerance).epsilon(1e-9));
                }
                const double largest = *std::max_element(x.begin(), x.end());
                const auto right =
                    reduce_of(shape, "max")
                        ->check(std::array{&input}, test::value_of({type, {1}}, {largest}), 1);
                CHECK(right.passed);
                CHECK(right.max_error_over_tolerance == 0);
            }
        }
    }
    // what FP32 holds is a sum, and what is beyond is infinite
    constexpr double kMost = std::numeric_limits<float>::max();
    for (const double sign : {1.0, -1.0}) {
        for (const std::size_t times : {1U, 2U}) {
            const family::TensorType shape{ElementType::F32, {1, static_cast<std::int64_t>(times)}};
            const auto x = test::value_of(shape, std::vector<double>(times, sign * kMost));
            const auto step = reduce_of(shape, "sum");
            const double infinity = std::numeric_limits<double>::infinity();
            const auto passes = [&](double got) {
                return step
                    ->check(std::array{&x}, test::value_of({ElementType::F32, {1}}, {got}), 1)
                    .passed;
            };
            CHECK(passes(sign * kMost) == (times == 1));
            CHECK(passes(sign * infinity) == (times == 2));
        }
    }
}

TEST_CASE("a change of layout writes all of its lines where one vertex does and they are dense",
          "[kernels][rearrange]") {
    using rearrange::Layout;
    spec::MachineSpec machine;
    machine.chip.generation = spec::Generation::Ipu1;
    const std::int64_t most = plan::most_rounds(machine);
    for (const Bytes gap : {0, 8}) {
        for (const std::int64_t rounds : {most - 1, most, most + 1, 2 * most, 2 * most + 1}) {
            // columns as lines before, rows as lines after: a round for each element
            Layout from{{}, ElementType::F32, 2, rounds, true, 8};
            Layout to{{graph::BufferId{1}}, ElementType::F32, 2, rounds, false, 4 * rounds + gap};
            const auto calls = rearrange::change(machine, from, to);
            CAPTURE(gap, rounds);
            CHECK(static_cast<std::int64_t>(calls.size()) == (rounds + most - 1) / most);
            std::int64_t done = 0;
            for (const auto& call : calls) {
                CHECK(call.state.at(1).access == (gap == 0 && calls.size() == 1
                                                      ? graph::Access::Write
                                                      : graph::Access::WritePart));
                CHECK(call.state[0].place.offset == done * from.step);
                CHECK(call.state[0].bytes == from.bytes() - done * from.step);
                CHECK(call.state[1].place.offset == done * 4);
                CHECK(call.state[1].bytes == to.bytes() - done * 4);
                done += call.state.at(5).word;
            }
            CHECK(done == rounds);
        }
    }
    // items with something between them leave that as it was
    for (const Bytes step : {8, 16}) {
        const auto call = rearrange::strided({{}, 24}, {{}, step}, 5, 8);
        CHECK(call.state.at(1).access ==
              (step == 8 ? graph::Access::Write : graph::Access::WritePart));
        CHECK(call.state[0].bytes == 4 * 24 + 8);
        CHECK(call.state[1].bytes == 4 * step + 8);
        CHECK(call.state.at(4).word == 4);
    }
}
