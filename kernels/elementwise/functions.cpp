// SPDX-License-Identifier: MIT
#include "kernels/elementwise/backward.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/factor.h"
#include "kernels/elementwise/map.h"
#include "kernels/elementwise/map_request.h"
#include "kernels/family/numbers.h"

#include <fmt/format.h>

#include <memory>

namespace tessera::elementwise {
namespace {

using family::Family;
using family::Refused;
using family::Request;
using family::require_numbers;
using family::shape_text;
using family::TensorType;

std::string typed(const char* name, ElementType type) {
    return fmt::format("{}_{}", name, tessera::name_of(type));
}

std::unique_ptr<family::Step> make_scale(const Request& request) {
    require_numbers(request, 0, "x");
    const TensorType& x = request.inputs[0];
    const ElementType type = x.type;
    const Factor factor = factor_of(scale(), request, "factor", type);
    return std::make_unique<Map>(
        function::Function{
            .name = "scale",
            .codelet = "elementwise_scale",
            .vertex = typed("scale", type),
            .loop = codelets::kScaleLoop,
            .constants = {graph::word(factor.bits)},
            .value = [factor = factor.value](double element, double) { return factor * element; },
            .tolerance = function::one_rounding(type)},
        std::vector{x}, x, std::vector{"x"});
}

} // namespace

const Family& relu() {
    static const Family family = family::with_gradient(
        Family{"relu",
               "max(x, 0) of every element",
               {"x"},
               {},
               [](const Request& request) { return map_of_x(request, function::relu); }},
        relu_backward);
    return family;
}

const Family& gelu() {
    static const Family family = family::with_gradient(
        Family{"gelu",
               "0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) of every element",
               {"x"},
               {},
               [](const Request& request) { return map_of_x(request, function::gelu); }},
        gelu_backward);
    return family;
}

const Family& tanh() {
    static const Family family = family::with_gradient(
        Family{"tanh",
               "tanh(x) of every element",
               {"x"},
               {},
               [](const Request& request) { return map_of_x(request, function::tanh); }},
        tanh_backward);
    return family;
}

const Family& sigmoid() {
    static const Family family = family::with_gradient(
        Family{"sigmoid",
               "1 / (1 + exp(-x)) of every element",
               {"x"},
               {},
               [](const Request& request) { return map_of_x(request, function::sigmoid); }},
        sigmoid_backward);
    return family;
}

const Family& swish() {
    static const Family family = family::with_gradient(
        Family{"swish",
               "x / (1 + exp(-x)) of every element",
               {"x"},
               {},
               [](const Request& request) { return map_of_x(request, function::swish); }},
        swish_backward);
    return family;
}

const Family& rsqrt() {
    static const Family family = family::with_gradient(
        Family{"rsqrt",
               "1 / sqrt(x) of every element",
               {"x"},
               {},
               [](const Request& request) { return map_of_x(request, function::rsqrt); }},
        rsqrt_backward);
    return family;
}

const Family& glu() {
    static const Family family = family::with_gradient(
        Family{"glu",
               "x / (1 + exp(-gate)), element by element",
               {"x", "gate"},
               {},
               [](const Request& request) {
                   return map_of_x_and_y(request, function::glu, family::kNumbers, "gate");
               }},
        glu_backward);
    return family;
}

const Family& scale() {
    static const Family family =
        family::with_gradient(Family{"scale",
                                     "factor * x of every element",
                                     {"x"},
                                     {{.key = "factor",
                                       .says = "the factor, rounded to the type of x",
                                       .words = {},
                                       .number = 1}},
                                     make_scale},
                              scale_backward);
    return family;
}

} // namespace tessera::elementwise
