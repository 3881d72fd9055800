// SPDX-License-Identifier: MIT
// What results may be off by, written down once more: an answer that is wrong tells it.
#include "kernels/elementwise/adam.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/family/numbers.h"
#include "kernels/function/near.h"
#include "kernels/softmax/cross_entropy.h"
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

/// A step that has not run is wrong about its first output's one element by a half: by how much of what
/// is allowed, and how much that is.
void check_told(const family::Step& step, const std::vector<family::Value>& inputs, double exact,
                double allowed, std::vector<family::Value> other_outputs = {}) {
    std::vector<const family::Value*> given;
    for (const family::Value& input : inputs) {
        given.push_back(&input);
    }
    const family::Value wrong =
        test::value_of(step.outputs().front(), [&](auto) { return exact + 0.5; });
    other_outputs.insert(other_outputs.begin(), wrong);
    const auto checked = step.check(given, other_outputs, 1);
    CHECK_FALSE(checked.passed);
    CHECK(checked.failed_elements == 1);
    const double error = std::fabs(family::number_at(wrong, 0) - exact);
    CHECK(checked.max_error == Approx(error).epsilon(1e-6));
    CHECK(checked.max_error_over_tolerance == Approx(error / allowed).epsilon(1e-5));
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
        check_told(*elementwise::adam().make(request), inputs, left.exact, left.off,
                   {single_of({first.exact}), single_of({second.exact}),
                    single_of({correction(0).exact, correction(1).exact})});
    }
}
