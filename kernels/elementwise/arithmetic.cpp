// SPDX-License-Identifier: MIT
// Arithmetic of two tensors, and functions of one that have an instruction.
#include "kernels/elementwise/backward.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/map.h"
#include "kernels/elementwise/map_request.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::elementwise {

using family::Family;
using family::Request;

namespace {

constexpr std::array kAndWhole{ElementType::F16, ElementType::F32, ElementType::I32,
                               ElementType::U32};
constexpr double kMostBits = 31;

std::unique_ptr<family::Step> make_narrow(const Request& request) {
    static constexpr std::array kWhole{ElementType::I32, ElementType::U32};
    family::require_numbers(request, 0, "x", kWhole);
    const double bits = family::number_of(narrow(), request, "bits");
    if (bits != std::floor(bits) || bits < 1 || bits > kMostBits) {
        throw family::Refused(
            -1, "bits",
            fmt::format("got {}, expected a whole number from 1 to {}", bits, kMostBits));
    }
    const family::TensorType& x = request.inputs[0];
    return std::make_unique<Map>(function::narrow(x.type, static_cast<std::int64_t>(bits)),
                                 std::vector{x}, x, std::vector{"x"});
}

} // namespace

const Family& narrow() {
    static const Family family{
        "narrow",
        "the whole number that the lowest bits of each element are",
        {"x"},
        {{.key = "bits", .says = "so many bits, 1 to 31", .words = {}, .number = 16}},
        make_narrow};
    return family;
}

const Family& add() {
    static const Family family =
        family::with_gradient(Family{"add",
                                     "x + y, element by element",
                                     {"x", "y"},
                                     {},
                                     [](const Request& request) {
                                         return map_of_x_and_y(request, function::add, kAndWhole);
                                     }},
                              add_backward);
    return family;
}

const Family& subtract() {
    static const Family family = family::with_gradient(
        Family{"subtract",
               "x - y, element by element",
               {"x", "y"},
               {},
               [](const Request& request) {
                   return map_of_x_and_y(request, function::subtract, kAndWhole);
               }},
        subtract_backward);
    return family;
}

const Family& multiply() {
    static const Family family = family::with_gradient(
        Family{"multiply",
               "x * y, element by element",
               {"x", "y"},
               {},
               [](const Request& request) {
                   return map_of_x_and_y(request, function::multiply, kAndWhole);
               }},
        multiply_backward);
    return family;
}

const Family& divide() {
    static const Family family = family::with_gradient(
        Family{"divide",
               "x / y, element by element",
               {"x", "y"},
               {},
               [](const Request& request) { return map_of_x_and_y(request, function::divide); }},
        divide_backward);
    return family;
}

const Family& maximum() {
    static const Family family = family::with_gradient(
        Family{"maximum",
               "the larger one of x and y, element by element",
               {"x", "y"},
               {},
               [](const Request& request) {
                   return map_of_x_and_y(request, function::maximum, kAndWhole);
               }},
        maximum_backward);
    return family;
}

const Family& minimum() {
    static const Family family = family::with_gradient(
        Family{"minimum",
               "the smaller one of x and y, element by element",
               {"x", "y"},
               {},
               [](const Request& request) {
                   return map_of_x_and_y(request, function::minimum, kAndWhole);
               }},
        minimum_backward);
    return family;
}

const Family& exp() {
    static const Family family = family::with_gradient(
        Family{"exp",
               "exp(x) of every element",
               {"x"},
               {},
               [](const Request& request) { return map_of_x(request, function::exp); }},
        exp_backward);
    return family;
}

const Family& log() {
    static const Family family = family::with_gradient(
        Family{"log",
               "the natural logarithm of every element",
               {"x"},
               {},
               [](const Request& request) { return map_of_x(request, function::log); }},
        log_backward);
    return family;
}

const Family& square_root() {
    static const Family family = family::with_gradient(
        Family{"sqrt",
               "the square root of every element",
               {"x"},
               {},
               [](const Request& request) { return map_of_x(request, function::square_root); }},
        sqrt_backward);
    return family;
}

} // namespace tessera::elementwise
