// SPDX-License-Identifier: MIT
// The exponential function, the natural logarithm and the square root.
#include "kernels/function/function.h"
#include "kernels/function/near.h"
#include "kernels/workload/overflow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace tessera::function {
namespace {

/// f32exp and f32ln are right to 1.5 units in the last place, those of FP16 are rounded once.
constexpr double kRoundings = 3;

/// FP16 functions know no infinities: of one they are NaN, and where they would be one they are the largest number.
double half_of(double x, double (*value)(double)) {
    constexpr double kBeyond = 2 * workload::kLargestF16;
    return std::isinf(x) ? std::numeric_limits<double>::quiet_NaN()
                         : std::clamp(value(x), -kBeyond, kBeyond);
}

Function of(const char* name, ElementType type, const codelets::MapLoop& half,
            const codelets::MapLoop& single, double (*value)(double)) {
    const bool is_half = type == ElementType::F16;
    return {.name = name,
            .codelet = "elementwise_exponential",
            .vertex = fmt::format("{}_{}", name, name_of(type)),
            .loop = is_half ? half : single,
            .value = [=](double x, double) { return is_half ? half_of(x, value) : value(x); },
            .tolerance =
                [=](double, double, double exact) {
                    return (is_half ? 1 : kRoundings) * workload::rounding(type, exact);
                }};
}

} // namespace

Function exp(ElementType type) {
    return of("exp", type, codelets::kExpF16Loop, codelets::kExpF32Loop,
              [](double x) { return std::exp(x); });
}

Function log(ElementType type) {
    return of("log", type, codelets::kExpF16Loop, codelets::kLogF32Loop,
              [](double x) { return std::log(x); });
}

Function square_root(ElementType type) {
    Function made = of("sqrt", type, codelets::kSqrtF16Loop, codelets::kSqrtF32Loop,
                       [](double x) { return std::sqrt(x); });
    made.tolerance = [type](double x, double, double) { return sqrt(near(type, x)).off; };
    return made;
}

} // namespace tessera::function
