// SPDX-License-Identifier: MIT
// tanh, the logistic function, swish, their gradients, and glu.
#include "kernels/function/constants.h"
#include "kernels/function/function.h"
#include "kernels/function/near.h"
#include "kernels/workload/overflow.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>

namespace tessera::function {
namespace {

/// f32tanh is right to 1.5 units in the last place, f16v2tanh is rounded once.
constexpr double kTanhRoundings = 3;

Function of(const char* name, const char* vertex, ElementType type, codelets::MapLoop loop) {
    return {.name = name,
            .codelet = "elementwise_logistic",
            .vertex = fmt::format("{}_{}", vertex, name_of(type)),
            .loop = loop};
}

/// FP16 functions know no infinities.
std::function<double(double, double)> value_of(ElementType type, double (*of)(double)) {
    return [=](double x, double) {
        return type == ElementType::F16 && std::isinf(x) ? std::numeric_limits<double>::quiet_NaN()
                                                         : of(x);
    };
}

/// `slope`: the derivative by the function's value.
Function gradient(const char* name, const char* vertex, ElementType type,
                  Near (*slope)(const Near& y)) {
    Function made = of(name, vertex, type, codelets::kLogisticGradientLoop);
    made.constants = {type == ElementType::F16 ? halves(1, 0) : single(1)};
    made.flops = 3;
    made.value = [slope](double y, double dy) {
        return dy * slope(near(ElementType::F32, y)).exact;
    };
    made.tolerance = [=](double y, double dy, double /*exact*/) {
        return (near(type, dy) * slope(near(type, y))).off;
    };
    return made;
}

double sigmoid_of(double x) {
    return 1 / (1 + std::exp(-x));
}

} // namespace

Function tanh(ElementType type) {
    const bool is_half = type == ElementType::F16;
    Function made =
        of("tanh", "tanh", type, is_half ? codelets::kTanhF16Loop : codelets::kTanhF32Loop);
    made.value = value_of(type, [](double x) { return std::tanh(x); });
    made.tolerance = [type, is_half](double, double, double exact) {
        return (is_half ? 1 : kTanhRoundings) * workload::rounding(type, exact);
    };
    return made;
}

Function sigmoid(ElementType type) {
    const bool is_half = type == ElementType::F16;
    Function made = of("sigmoid", "sigmoid", type,
                       is_half ? codelets::kSigmoidF16Loop : codelets::kSigmoidF32Loop);
    made.value = value_of(type, sigmoid_of);
    made.tolerance = [type](double x, double, double) { return sigm(near(type, x)).off; };
    return made;
}

Function swish(ElementType type) {
    Function made =
        of("swish", "swish", type,
           type == ElementType::F16 ? codelets::kSwishF16Loop : codelets::kSwishF32Loop);
    made.flops = 2;
    made.value = value_of(type, [](double x) { return x * sigmoid_of(x); });
    made.tolerance = [type](double x, double, double) {
        return (near(type, x) * sigm(near(type, x))).off;
    };
    return made;
}

Function glu(ElementType type) {
    const bool is_half = type == ElementType::F16;
    Function made = of("glu", "glu", type, is_half ? codelets::kGluF16Loop : codelets::kGluF32Loop);
    made.codelet = "elementwise_glu";
    made.flops = 2;
    made.value = [gate_of = value_of(type, sigmoid_of)](double x, double gate) {
        return x * gate_of(gate, 0);
    };
    made.tolerance = [type](double x, double gate, double) {
        return (near(type, x) * sigm(near(type, gate))).off;
    };
    return made;
}

Function swish_gradient(ElementType type) {
    const bool is_half = type == ElementType::F16;
    Function made = of("swish gradient", "swish_gradient", type,
                       is_half ? codelets::kSwishGradientF16Loop : codelets::kSwishGradientF32Loop);
    made.constants = {is_half ? halves(1, 0) : single(1)};
    made.flops = 6;
    // 1 - s is sigmoid_of(-x), without a difference
    made.value = [](double x, double dy) { return dy * sigmoid_of(x) * (1 + x * sigmoid_of(-x)); };
    made.tolerance = [type](double x, double dy, double /*exact*/) {
        const Near one = near(type, 1);
        const Near s = sigm(near(type, x));
        return (near(type, dy) * (s * (one + near(type, x) * (one - s)))).off;
    };
    return made;
}

Function tanh_gradient(ElementType type) {
    return gradient("tanh gradient", "tanh_gradient", type,
                    [](const Near& y) { return near(y.type, 1) - y * y; });
}

Function sigmoid_gradient(ElementType type) {
    return gradient("sigmoid gradient", "sigmoid_gradient", type,
                    [](const Near& y) { return y * (near(y.type, 1) - y); });
}

} // namespace tessera::function
