// SPDX-License-Identifier: MIT
#include "kernels/function/function.h"
#include "kernels/function/near.h"
#include "kernels/workload/overflow.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace tessera::function {
namespace {

std::string typed(const char* name, ElementType type) {
    return fmt::format("{}_{}", name, name_of(type));
}

} // namespace

std::function<double(double, double, double)> one_rounding(ElementType type) {
    return [type](double, double, double exact) { return workload::rounding(type, exact); };
}

Function relu(ElementType type) {
    // fmax, as the machine: of NaN and 0 it is 0
    return {.name = "relu",
            .codelet = "elementwise_relu",
            .vertex = typed("relu", type),
            .loop = codelets::kReluLoop,
            .value = [](double x, double) { return std::fmax(x, 0); }};
}

Function scaled_add(ElementType x, ElementType y, double factor, std::uint32_t bits) {
    const bool is_mixed = x != y;
    return {.name = "scaled add",
            .codelet = "elementwise_scaled_add",
            .vertex = is_mixed ? "scaled_add_f32_f16" : typed("scaled_add", x),
            .loop = is_mixed ? codelets::kScaledAddMixedLoop : codelets::kScaledAddLoop,
            .constants = {graph::word(bits)},
            .flops = 2,
            .value = [factor](double of_x, double of_y) { return factor * of_x + of_y; },
            .tolerance =
                [=](double of_x, double of_y, double exact) {
                    const Near sum = near(x, factor) * near(x, of_x) + near(x, of_y);
                    return sum.off +
                           (is_mixed ? workload::rounding(y, std::fabs(exact) + sum.off) : 0);
                }};
}

Function relu_gradient(ElementType type) {
    return {.name = "relu gradient",
            .codelet = "elementwise_relu_gradient",
            .vertex = typed("relu_gradient", type),
            .loop = codelets::kReluGradientLoop,
            .value = [](double x, double y) { return x > 0 ? y : 0; },
            // subnormals of y pass, where arithmetic would take them as zero
            .tolerance =
                [type](double, double, double) {
                    return type == ElementType::F32 ? workload::rounding(type, 0) : 0;
                }};
}

Function add_to_rows(ElementType type) {
    Function function = add(type);
    function.codelet = "elementwise_add_to_rows";
    function.vertex = typed("add_to_rows", type);
    function.loop = codelets::kAddToRowsLoop;
    return function;
}

} // namespace tessera::function
