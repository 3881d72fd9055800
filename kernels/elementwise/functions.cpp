// SPDX-License-Identifier: MIT
#include "kernels/elementwise/backward.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/factor.h"
#include "kernels/elementwise/map.h"
#include "kernels/family/numbers.h"

#include <fmt/format.h>

#include <memory>
#include <span>

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

std::unique_ptr<family::Step> make_cast(const Request& request) {
    require_numbers(request, 0, "x");
    const TensorType& x = request.inputs[0];
    TensorType out = x;
    out.type = find_element_type(word_of(cast(), request, "to"))->type;
    if (out.type == x.type) {
        throw Refused(
            -1, "to",
            fmt::format("got {}, expected another type than that of x", tessera::name_of(x.type)));
    }
    const bool widens = out.type == ElementType::F32;
    return std::make_unique<Map>(
        function::Function{.name = "cast",
                           .codelet = "elementwise_cast",
                           .vertex = widens ? "cast_f16_f32" : "cast_f32_f16",
                           .loop = widens ? codelets::kWidenLoop : codelets::kNarrowLoop,
                           .flops = 0,
                           .value = [](double element, double) { return element; },
                           .tolerance = widens ? nullptr : function::one_rounding(out.type)},
        std::vector{x}, out, std::vector{"x"});
}

/// Of one input.
std::unique_ptr<family::Step> of_x(const Request& request,
                                   function::Function (*of_type)(ElementType)) {
    require_numbers(request, 0, "x");
    const TensorType& x = request.inputs[0];
    return std::make_unique<Map>(of_type(x.type), std::vector{x}, x, std::vector{"x"});
}

/// Of two inputs, x and `second`.
std::unique_ptr<family::Step> of_x_and_y(const Request& request,
                                         function::Function (*of_type)(ElementType),
                                         std::span<const ElementType> types = family::kNumbers,
                                         const char* second = "y") {
    require_numbers(request, 0, "x", types);
    require_numbers(request, 1, second, types);
    family::require_same_type(request);
    const TensorType& x = request.inputs[0];
    if (x.shape != request.inputs[1].shape) {
        throw Refused(1, "",
                      fmt::format("got {} and {}, expected equal shapes", shape_text(x),
                                  shape_text(request.inputs[1])));
    }
    return std::make_unique<Map>(of_type(x.type), request.inputs, x, std::vector{"x", second});
}

} // namespace

const Family& relu() {
    static const Family family = family::with_gradient(
        Family{"relu",
               "max(x, 0) of every element",
               {"x"},
               {},
               [](const Request& request) { return of_x(request, function::relu); }},
        relu_backward);
    return family;
}

const Family& gelu() {
    static const Family family = family::with_gradient(
        Family{"gelu",
               "0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) of every element",
               {"x"},
               {},
               [](const Request& request) { return of_x(request, function::gelu); }},
        gelu_backward);
    return family;
}

const Family& tanh() {
    static const Family family = family::with_gradient(
        Family{"tanh",
               "tanh(x) of every element",
               {"x"},
               {},
               [](const Request& request) { return of_x(request, function::tanh); }},
        tanh_backward);
    return family;
}

const Family& sigmoid() {
    static const Family family = family::with_gradient(
        Family{"sigmoid",
               "1 / (1 + exp(-x)) of every element",
               {"x"},
               {},
               [](const Request& request) { return of_x(request, function::sigmoid); }},
        sigmoid_backward);
    return family;
}

const Family& swish() {
    static const Family family = family::with_gradient(
        Family{"swish",
               "x / (1 + exp(-x)) of every element",
               {"x"},
               {},
               [](const Request& request) { return of_x(request, function::swish); }},
        swish_backward);
    return family;
}

const Family& rsqrt() {
    static const Family family = family::with_gradient(
        Family{"rsqrt",
               "1 / sqrt(x) of every element",
               {"x"},
               {},
               [](const Request& request) { return of_x(request, function::rsqrt); }},
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
                   return of_x_and_y(request, function::glu, family::kNumbers, "gate");
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

const Family& cast() {
    static const Family family = family::with_gradient(
        Family{"cast",
               "x as another type",
               {"x"},
               {{.key = "to", .says = "the other type", .words = {"f16", "f32"}, .word = "f16"}},
               make_cast},
        cast_backward);
    return family;
}

const Family& add() {
    static const Family family = family::with_gradient(
        Family{"add",
               "x + y, element by element",
               {"x", "y"},
               {},
               [](const Request& request) {
                   static constexpr ElementType kTypes[] = {ElementType::F16, ElementType::F32,
                                                            ElementType::I32, ElementType::U32};
                   return of_x_and_y(request, function::add, kTypes);
               }},
        add_backward);
    return family;
}

const Family& multiply() {
    static const Family family = family::with_gradient(
        Family{"multiply",
               "x * y, element by element",
               {"x", "y"},
               {},
               [](const Request& request) { return of_x_and_y(request, function::multiply); }},
        multiply_backward);
    return family;
}

} // namespace tessera::elementwise
