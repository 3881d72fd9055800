// SPDX-License-Identifier: MIT
// The tests here write down once more what results may be off by: an answer that is wrong tells it.
#include "kernels/elementwise/adam.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/family/numbers.h"
#include "kernels/function/near.h"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/softmax/cross_entropy.h"
#include "kernels/softmax/softmax_gradient.h"
#include "kernels/workload/overflow.h"
#include "tests/kernels/elementwise/elementwise_bench.h"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <vector>

namespace {

using namespace tessera;
using function::Near;

constexpr double kU = 0x1p-24; ///< one rounding of FP32
constexpr double kLeast = 0x1p-126;
constexpr std::array kTypes{ElementType::F16, ElementType::F32};

Near single(double exact) {
    return function::near(ElementType::F32, exact);
}
Near constant(double exact) {
    return function::near_constant(ElementType::F32, exact);
}

family::Value numbers(ElementType type, const std::vector<double>& values) {
    return test::value_of({type, {static_cast<std::int64_t>(values.size())}},
                          [&](std::int64_t i) { return values.at(static_cast<std::size_t>(i)); });
}

/// A step that is right but for the first element of one output, which is off by a half, says by how much
/// of what is allowed: so much.
void check_told(const family::Step& step, const std::vector<family::Value>& inputs,
                const std::vector<std::vector<double>>& exact, std::size_t wrong, double allowed) {
    std::vector<const family::Value*> given;
    for (const family::Value& input : inputs) {
        given.push_back(&input);
    }
    std::vector<family::Value> outputs;
    for (const family::TensorType& type : step.outputs()) {
        const std::vector<double>& of = exact.at(outputs.size());
        const double off = outputs.size() == wrong ? 0.5 : 0;
        outputs.push_back(test::value_of(type, [&](std::int64_t i) {
            return of.at(static_cast<std::size_t>(i)) + (i == 0 ? off : 0);
        }));
    }
    const auto checked = step.check(given, outputs, 1);
    CHECK_FALSE(checked.passed);
    CHECK(checked.failed_elements == 1);
    const double error = std::fabs(family::number_at(outputs[wrong], 0) - exact[wrong][0]);
    CHECK(checked.max_error == Approx(error).epsilon(1e-6));
    CHECK(checked.max_error_over_tolerance == Approx(error / allowed).epsilon(1e-5));
}
void check_told(const family::Step& step, const std::vector<family::Value>& inputs, double exact,
                double allowed) {
    check_told(step, inputs, {{exact}}, 0, allowed);
}

} // namespace

TEST_CASE("a number that is scaled by two others has their roundings and its own",
          "[kernels][elementwise]") {
    for (const ElementType type : kTypes) {
        const double factor = 0.3;
        const double by = 2.5;
        const double x = -1.5;
        const auto step = elementwise::scale_by().make(
            {{{type, {1}}, {ElementType::F32, {1}}}, {{"factor", factor}}});
        const double exact = factor * by * x;
        const double of_products =
            constant(factor).off * by * std::fabs(x) +
            workload::rounding(ElementType::F32, factor * by) * std::fabs(x) +
            workload::rounding(ElementType::F32, exact);
        const double stored = type == ElementType::F16 ? workload::rounding(type, exact) : 0;
        check_told(*step, {numbers(type, {x}), numbers(ElementType::F32, {by})}, exact,
                   of_products + stored);
    }
}

TEST_CASE("a sum of squares has a rounding for each square and those of its difference",
          "[kernels][elementwise]") {
    for (const ElementType type : kTypes) {
        const double factor = 0.3;
        const family::TensorType three{type, {3}};
        const std::vector<double> x{1, -2, 3};
        const double squares = 1 + 4 + 9;
        const auto of_x = elementwise::sum_of_squares().make({{three}, {{"factor", factor}}});
        // it has added nothing yet: one rounding for the squares, and what FP32 takes for 0
        const double of_sum = kU * squares + 3 * kLeast;
        const double product = constant(factor).off * squares + factor * of_sum;
        check_told(*of_x, {numbers(type, x)}, factor * squares,
                   product + workload::rounding(ElementType::F32, factor * squares));
        // 4, -3.5 and 5 apart
        const auto of_difference =
            elementwise::sum_of_squares().make({{three, three}, {{"factor", factor}}});
        double exact = 0;
        double most = 0;
        for (const double difference : {4.0, 3.5, 5.0}) {
            exact += difference * difference;
            most += std::pow(difference + workload::rounding(type, difference), 2);
        }
        const double of_them = most - exact + kU * most + 3 * kLeast;
        check_told(*of_difference, {numbers(type, x), numbers(type, {-3, 1.5, -2})}, factor * exact,
                   constant(factor).off * (exact + of_them) + factor * of_them +
                       workload::rounding(ElementType::F32, factor * exact));
    }
}

TEST_CASE(
    "a cross entropy has the roundings of its rows' logarithms and products, and of their sum",
    "[kernels][softmax]") {
    const double factor = 0.5;
    const double kShared = 12; // roundings of workers that share a row
    for (const ElementType type : kTypes) {
        const family::TensorType rows{type, {2, 3}};
        const std::vector<double> x{1, 4, 2, /**/ -3, 0.5, 0};
        const std::vector<double> t{0, 0.25, 0.75, /**/ 1, 0, 0};
        const auto step = softmax::cross_entropy().make({{rows, rows}, {{"factor", factor}}});
        double exact = 0;
        double off = 0;
        double magnitude = 0;
        for (std::size_t first = 0; first < x.size(); first += 3) {
            const double max = first == 0 ? 4 : 0.5;
            double sum = 0;
            double dot = 0;
            double products = 0;
            for (std::size_t i = first; i < first + 3; ++i) {
                sum += std::exp(x[i] - max);
                dot += x[i] * t[i];
                products += std::fabs(x[i] * t[i]);
            }
            const double row = std::log(sum) + max - dot;
            const double of_exponentials = std::log(3) + 3 + 6 + kShared;
            const double of_row = kU * (of_exponentials + 3 * std::log(sum) + std::log(sum) + max +
                                        (3 + 2 + kShared) * products + std::fabs(row)) +
                                  (2 * 3 + 3) * kLeast;
            exact += row;
            off += of_row;
            magnitude += std::fabs(row) + of_row;
        }
        const auto value = [&](const std::vector<double>& of) {
            return test::value_of(rows,
                                  [&](std::int64_t i) { return of[static_cast<std::size_t>(i)]; });
        };
        // the loss has three roundings more, as long as no rows are added
        check_told(*step, {value(x), value(t)}, factor * exact,
                   factor * (off + 3 * kU * magnitude) + kLeast);
    }
}

TEST_CASE("weights against moments have the roundings of each operation of the formula",
          "[kernels][elementwise]") {
    const double rate = 0.1;
    const double decay = 0.2;
    const std::array beta{0.9, 0.75};
    const double epsilon = 1e-3;
    const double weight = 3;
    const double gradient = 0.5;
    const double m = 0.25;
    const double v = 2;
    const std::array corrections{0.3, 0.6};
    for (const ElementType type : kTypes) {
        family::Request request{{{type, {1}}, {ElementType::F32, {1}}},
                                {{"rate", rate},
                                 {"weight_decay", decay},
                                 {"beta1", beta[0]},
                                 {"beta2", beta[1]},
                                 {"epsilon", epsilon}}};
        for (const family::TensorType& state : elementwise::adam_state(request.inputs[0])) {
            request.inputs.push_back(state);
        }
        const auto single_of = [](const std::vector<double>& values) {
            return numbers(ElementType::F32, values);
        };
        const std::vector<family::Value> inputs{numbers(type, {weight}), single_of({gradient}),
                                                single_of({m}), single_of({v}),
                                                single_of({corrections[0], corrections[1]})};
        const auto mixed = [&](std::size_t i, const Near& before, const Near& now) {
            return constant(beta[i]) * before + constant(1 - beta[i]) * now;
        };
        const auto correction = [&](std::size_t i) {
            return constant(beta[i]) * single(double{static_cast<float>(corrections[i])}) +
                   constant(1 - beta[i]);
        };
        const Near first = mixed(0, single(m), single(gradient));
        const Near second = mixed(1, single(v), single(gradient) * single(gradient));
        const Near root = sqrt(second * (single(1) / correction(1)));
        const Near change =
            constant(rate) * (single(1) / correction(0)) * first / (root + constant(epsilon));
        Near left = constant(1 - rate * decay) * single(weight) - change;
        if (type == ElementType::F16) {
            left.off += workload::rounding(type, left.exact);
        }
        const std::vector<std::vector<double>> exact{{left.exact},
                                                     {first.exact},
                                                     {second.exact},
                                                     {correction(0).exact, correction(1).exact}};
        const std::array offs{left.off, first.off, second.off, correction(0).off};
        for (std::size_t wrong = 0; wrong < offs.size(); ++wrong) {
            CAPTURE(name_of(type), wrong);
            check_told(*elementwise::adam().make(request), inputs, exact, wrong, offs[wrong]);
        }
    }
}

TEST_CASE("a gradient of softmax has the roundings of its row's sum, its own and those of shares",
          "[kernels][softmax]") {
    for (const ElementType type : kTypes) {
        const family::TensorType row{type, {1, 3}};
        const std::vector<double> y{0.5, 0.25, 0.25};
        const std::vector<double> dy{2, -1, 3};
        const double sum = 1.0 - 0.25 + 0.75;
        const double magnitude = 1.0 + 0.25 + 0.75;
        const double of_sum = (3 + 8) * (kU * magnitude + kLeast);
        const double difference = dy[0] - sum;
        const double computed = y[0] * (of_sum + 3 * kU * (difference + of_sum) + kLeast);
        const auto value = [&](const std::vector<double>& of) {
            return test::value_of(row,
                                  [&](std::int64_t i) { return of[static_cast<std::size_t>(i)]; });
        };
        check_told(*softmax::gradient().make({{row, row}, {}}), {value(y), value(dy)},
                   {{y[0] * difference, y[1] * (dy[1] - sum), y[2] * (dy[2] - sum)}}, 0,
                   computed + workload::rounding(type, y[0] * difference + computed) + kLeast);
    }
}

TEST_CASE("a row's norm has the roundings of its sums, its root and its line",
          "[kernels][layer_norm]") {
    const double epsilon = 0.125;
    const double n = 4;
    for (const ElementType type : kTypes) {
        const family::TensorType row{type, {1, 4}};
        const family::TensorType line{type, {4}};
        const std::vector<double> x{1, 2, 4, -5};
        const std::vector<double> scale{2, 1, 1, 1};
        const std::vector<double> offset{0.25, 0, 0, 0};
        const double mean = 0.5;
        const double variance = (0.25 + 2.25 + 12.25 + 30.25) / n;
        const double of_mean = (n + 12) * (kU * (1 + 2 + 4 + 5) / n + kLeast);
        // an error of the mean adds its square
        const double of_variance =
            of_mean * of_mean + (n + 16) * (kU * (variance + of_mean * of_mean) + kLeast);
        const double under_root = variance + epsilon;
        const double carried = of_variance + 4 * kU * under_root;
        const double deviation = 1 / std::sqrt(under_root);
        const double of_deviation = 1 / std::sqrt(under_root - carried) -
                                    deviation + // falls faster
                                    4 * kU * deviation;
        const Near factor{ElementType::F32, deviation, of_deviation};
        const Near shifted = single(x[0]) - Near{ElementType::F32, mean, of_mean};
        const Near wide = shifted * factor;
        Near narrow = function::near_constant(type, wide.exact);
        narrow.off += wide.off;
        const Near y = narrow * function::near(type, scale[0]) + function::near(type, offset[0]);
        std::vector<double> exact;
        for (std::size_t i = 0; i < x.size(); ++i) {
            exact.push_back((x[i] - mean) * deviation * scale[i] + offset[i]);
        }
        const std::vector<family::Value> inputs{
            test::value_of(row, [&](std::int64_t i) { return x[static_cast<std::size_t>(i)]; }),
            numbers(type, scale), numbers(type, offset)};
        const auto step = layer_norm::family().make({{row, line, line}, {{"epsilon", epsilon}}});
        const std::array offs{y.off, of_mean, of_deviation};
        for (std::size_t wrong = 0; wrong < offs.size(); ++wrong) {
            CAPTURE(name_of(type), wrong);
            check_told(*step, inputs, {exact, {mean}, {deviation}}, wrong, offs[wrong]);
        }
    }
}
