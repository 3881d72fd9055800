// SPDX-License-Identifier: MIT
#include "base/float16.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/map.h"
#include "kernels/family/numbers.h"
#include "kernels/workload/half.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numbers>
#include <utility>

namespace tessera::elementwise {
namespace {

using family::Family;
using family::Refused;
using family::Request;
using family::require_numbers;
using family::rounding;
using family::shape_text;
using family::TensorType;

std::string typed(const char* name, ElementType type) {
    return fmt::format("{}_{}", name, tessera::name_of(type));
}

/// Of one input, whose type the output has unless it is said.
std::unique_ptr<family::Step> of_x(const Request& request, Function function) {
    const TensorType& x = request.inputs[0];
    return std::make_unique<Map>(std::move(function), std::vector{x}, x, std::vector{"x"});
}

graph::Field f32_word(double value) {
    return graph::word(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
}

constexpr double kLinear = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
constexpr double kCubic = 0.044715;

/// Of which gelu is x sigm(inner(x)).
double inner(double x) {
    return kLinear * (x + kCubic * x * x * x);
}

/// In FP32 with e = 2^-24. The vertex computes v = inner(x) as x (c x x + l): c, l and every result
/// are rounded, all terms have one sign, so v is off by 5 e of itself: c, x x and their product,
/// the sum, the product. That changes sigm(v) by (1 - sigm(v)) |v| 5 e of itself. The instruction
/// is right to 2.5 units in the last place, 5 e, and its product with x rounds once more. One e is
/// added to both for what is of second order. Where sigm(v) is a subnormal it becomes zero, and so
/// may the result. FP16 rounds that once more.
double gelu_tolerance(ElementType type, double x, double exact) {
    const double v = inner(x);
    const double roundings = 7 + 6 * std::fabs(v) / (1 + std::exp(v));
    const double single = unit_roundoff(ElementType::F32) * roundings * std::fabs(exact) +
                          (std::fabs(x) + 1) * rounding(ElementType::F32, 0);
    return type == ElementType::F32 ? single : single + rounding(type, exact);
}

std::unique_ptr<family::Step> make_gelu(const Request& request) {
    require_numbers(request, 0, "x");
    const ElementType type = request.inputs[0].type;
    return of_x(
        request,
        {.name = "gelu",
         .codelet = "elementwise_gelu",
         .vertex = typed("gelu", type),
         .loop = type == ElementType::F16 ? codelets::kGeluF16Loop : codelets::kGeluF32Loop,
         .constants = {f32_word(kLinear * kCubic), f32_word(kLinear)},
         .flops = 9,
         .value = [](double x, double) { return x / (1 + std::exp(-inner(x))); },
         .tolerance = [type](double x,
                             double expected) { return gelu_tolerance(type, x, expected); }});
}

std::unique_ptr<family::Step> make_scale(const Request& request) {
    require_numbers(request, 0, "x");
    const ElementType type = request.inputs[0].type;
    const double told = number_of(scale(), request, "factor");
    const std::uint16_t half = workload::f64_to_f16(told);
    const bool is_half = type == ElementType::F16;
    // subnormals are zero to the machine
    const double factor = is_half ? f16_to_f32(half)
                          : std::fabs(told) < std::numeric_limits<float>::min()
                              ? 0
                              : static_cast<float>(told);
    if (!std::isfinite(factor)) {
        throw Refused(-1, "factor",
                      fmt::format("got {}, expected a number that {} can hold", told,
                                  tessera::name_of(type)));
    }
    return of_x(request, {.name = "scale",
                          .codelet = "elementwise_scale",
                          .vertex = typed("scale", type),
                          .loop = codelets::kScaleLoop,
                          .constants = {is_half ? graph::word(half) : f32_word(factor)},
                          .value = [factor](double x, double) { return factor * x; },
                          .tolerance = one_rounding(type)});
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
        Function{.name = "cast",
                 .codelet = "elementwise_cast",
                 .vertex = widens ? "cast_f16_f32" : "cast_f32_f16",
                 .loop = widens ? codelets::kWidenLoop : codelets::kNarrowLoop,
                 .flops = 0,
                 .value = [](double element, double) { return element; },
                 .tolerance = widens ? nullptr : one_rounding(out.type)},
        std::vector{x}, out, std::vector{"x"});
}

/// Of two inputs.
std::unique_ptr<family::Step> of_x_and_y(const Request& request, const char* name,
                                         const codelets::MapLoop& loop,
                                         double (*value)(double, double)) {
    require_numbers(request, 0, "x");
    require_numbers(request, 1, "y");
    family::require_same_type(request);
    const TensorType& x = request.inputs[0];
    if (x.shape != request.inputs[1].shape) {
        throw Refused(1, "",
                      fmt::format("got {} and {}, expected equal shapes", shape_text(x),
                                  shape_text(request.inputs[1])));
    }
    return std::make_unique<Map>(Function{.name = name,
                                          .codelet = fmt::format("elementwise_{}", name),
                                          .vertex = typed(name, x.type),
                                          .loop = loop,
                                          .value = value,
                                          .tolerance = one_rounding(x.type)},
                                 request.inputs, x, std::vector{"x", "y"});
}

} // namespace

const Family& gelu() {
    static const Family family{"gelu",
                               "0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) of every element",
                               {"x"},
                               {},
                               make_gelu};
    return family;
}

const Family& scale() {
    static const Family family{"scale",
                               "factor * x of every element",
                               {"x"},
                               {{.key = "factor",
                                 .says = "the factor, rounded to the type of x",
                                 .words = {},
                                 .number = 1}},
                               make_scale};
    return family;
}

const Family& cast() {
    static const Family family{
        "cast",
        "x as another type",
        {"x"},
        {{.key = "to", .says = "the other type", .words = {"f16", "f32"}, .word = "f16"}},
        make_cast};
    return family;
}

const Family& add() {
    static const Family family{
        "add", "x + y, element by element", {"x", "y"}, {}, [](const Request& request) {
            return of_x_and_y(request, "add", codelets::kAddLoop,
                              [](double x, double y) { return x + y; });
        }};
    return family;
}

const Family& multiply() {
    static const Family family{
        "multiply", "x * y, element by element", {"x", "y"}, {}, [](const Request& request) {
            return of_x_and_y(request, "multiply", codelets::kMultiplyLoop,
                              [](double x, double y) { return x * y; });
        }};
    return family;
}

} // namespace tessera::elementwise
