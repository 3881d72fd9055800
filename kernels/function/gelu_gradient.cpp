// SPDX-License-Identifier: MIT
#include "kernels/function/constants.h"
#include "kernels/function/function.h"
#include "kernels/function/near.h"

#include <cmath>
#include <numbers>

namespace tessera::function {
namespace {

// gelu(x) = x s for s = sigm(v), v = x (2 b x^2 + 2 a)
constexpr double kTwoA = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
constexpr double kTwoB = 0.044715 * kTwoA;
/// x^2 is not taken as more: s is 0 or 1 long before, in every type.
constexpr double kMostSquare = 256;

double derivative(double x) {
    const double v = x * (kTwoB * x * x + kTwoA);
    const double s = 1 / (1 + std::exp(-v));
    const double one_less_s = 1 / (1 + std::exp(v));
    return s + x * (3 * kTwoB * x * x + kTwoA) * s * one_less_s;
}

/// The steps of elementwise_gelu_gradient.S, each of which rounds.
double tolerance(ElementType type, double x, double y) {
    const auto constant = [&](double number) { return near_constant(type, number); };
    const Near at = near(type, x);
    // beyond the last square s (1 - s) is 0
    const Near q = x * x < kMostSquare ? at * at : near(type, kMostSquare);
    const Near slope = constant(3 * kTwoB) * q + constant(kTwoA);
    const Near s = sigm(at * (constant(kTwoB) * q + constant(kTwoA)));
    const Near of_slope = at * (slope * (s * (near(type, 1) - s)));
    return (near(type, y) * (s + of_slope)).off;
}

} // namespace

Function gelu_gradient(ElementType type) {
    const bool is_half = type == ElementType::F16;
    Function function{
        .name = "gelu gradient",
        .codelet = "elementwise_gelu_gradient",
        .vertex = is_half ? "gelu_gradient_f16" : "gelu_gradient_f32",
        .loop = is_half ? codelets::kGeluGradientF16Loop : codelets::kGeluGradientF32Loop,
        .flops = 14,
        .value = [](double x, double y) { return y * derivative(x); },
        .tolerance = [type](double x, double y, double) { return tolerance(type, x, y); }};
    if (is_half) {
        function.constants = {halves(kTwoB, kTwoA), halves(3 * kTwoB, 1)};
    } else {
        function.constants = {single(kTwoB), single(kTwoA), single(3 * kTwoB), single(1),
                              single(kMostSquare)};
    }
    return function;
}

} // namespace tessera::function
