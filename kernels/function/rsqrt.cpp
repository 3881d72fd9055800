// SPDX-License-Identifier: MIT
// 1 / sqrt(x) and its gradient.
#include "kernels/function/constants.h"
#include "kernels/function/function.h"
#include "kernels/function/near.h"
#include "kernels/workload/overflow.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace tessera::function {
namespace {

/// f32oorx is right to 1.5 units in the last place.
constexpr double kRoundings = 3;

} // namespace

Function rsqrt(ElementType type) {
    const bool is_half = type == ElementType::F16;
    return {.name = "rsqrt",
            .codelet = "elementwise_rsqrt",
            .vertex = fmt::format("rsqrt_{}", name_of(type)),
            .loop = is_half ? codelets::kRsqrtF16Loop : codelets::kRsqrtF32Loop,
            // FP16 has no infinity, which 0 gives
            .value =
                [is_half](double x, double) {
                    return is_half && x == 0 ? std::numeric_limits<double>::quiet_NaN()
                                             : 1 / std::sqrt(x);
                },
            .tolerance =
                [is_half](double, double, double exact) {
                    return kRoundings * workload::rounding(ElementType::F32, exact) +
                           (is_half ? workload::rounding(ElementType::F16, exact) : 0);
                }};
}

Function rsqrt_gradient(ElementType type) {
    return {.name = "rsqrt gradient",
            .codelet = "elementwise_rsqrt",
            .vertex = fmt::format("rsqrt_gradient_{}", name_of(type)),
            .loop = codelets::kRsqrtGradientLoop,
            .constants = {type == ElementType::F16 ? halves(-0.5, 0) : single(-0.5)},
            .flops = 4,
            .value = [](double y, double dy) { return -0.5 * dy * y * y * y; },
            .tolerance =
                [type](double of_y, double dy, double) {
                    const Near y = near(type, of_y);
                    return (y * (y * (y * (near(type, -0.5) * near(type, dy))))).off;
                }};
}

} // namespace tessera::function
