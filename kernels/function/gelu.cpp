// SPDX-License-Identifier: MIT
#include "kernels/function/constants.h"
#include "kernels/function/function.h"
#include "kernels/workload/overflow.h"

#include <cmath>
#include <numbers>

namespace tessera::function {
namespace {

constexpr double kA = std::numbers::sqrt2 * std::numbers::inv_sqrtpi; // sqrt(2/pi)
constexpr double kB = 0.044715 * kA;
constexpr double kSecondOrder = 1.02; ///< for what products of errors add to their sum

/// Of which gelu is 0.5 x (1 + tanh(inner(x))) = x sigm(2 inner(x)).
double inner(double x) {
    return kA * x + kB * x * x * x;
}

/// With u = 2^-11, what the vertex adds one after the other:
///   w = x (b x x + a)   5 u of itself: b, x x, their product, the sum, the product; a's is in the sum's.
///                       tanh(w) then differs by 5 u |w| / cosh^2 of a number between the two
///   tanh                u / 2, half of the last place below 1
///   1 + tanh, times x / 2    u of the result each; x / 2 and the result may be subnormals
double f16_tolerance(double x, double /*y*/, double exact) {
    const double u = unit_roundoff(ElementType::F16);
    const double w = std::fabs(inner(x));
    const double cosh = std::cosh((1 - 6 * u) * w);
    const double first = std::fabs(x) / 2 * (5 * u * w / (cosh * cosh) + u / 2);
    return kSecondOrder * (first + 2 * u * std::fabs(exact)) +
           2 * workload::rounding(ElementType::F16, 0);
}

/// With u = 2^-24: v = 2 w as above is off by 5 u of itself, which changes sigm(v) by (1 - sigm(v)) |v| 5 u
/// of itself. The instruction is right to 2.5 units in the last place, 5 u; the product with x rounds.
/// Where sigm(v) is a subnormal it becomes zero, and so may the result.
double f32_tolerance(double x, double /*y*/, double exact) {
    const double v = 2 * inner(x);
    const double roundings = 5 * std::fabs(v) / (1 + std::exp(v)) + 6;
    return kSecondOrder * unit_roundoff(ElementType::F32) * roundings * std::fabs(exact) +
           (std::fabs(x) + 1) * workload::rounding(ElementType::F32, 0);
}

} // namespace

Function gelu(ElementType type) {
    const bool is_half = type == ElementType::F16;
    return {.name = "gelu",
            .codelet = "elementwise_gelu",
            .vertex = is_half ? "gelu_f16" : "gelu_f32",
            .loop = is_half ? codelets::kGeluF16Loop : codelets::kGeluF32Loop,
            .constants = {is_half ? halves(kB, kA) : single(2 * kB),
                          is_half ? halves(1, 0.5) : single(2 * kA)},
            .flops = 9,
            .value = [](double element,
                        double) { return element / (1 + std::exp(-2 * inner(element))); },
            .tolerance = is_half ? f16_tolerance : f32_tolerance};
}

} // namespace tessera::function
