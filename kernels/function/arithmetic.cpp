// SPDX-License-Identifier: MIT
// Sums, differences, products, quotients, and the larger or smaller one of two numbers.
#include "kernels/function/function.h"
#include "kernels/function/near.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace tessera::function {
namespace {

/// The number that the lowest bits have of one, with a sign or without one.
double wrapped(ElementType type, std::int64_t number, std::int64_t bits = 32) {
    const std::int64_t all = std::int64_t{1} << bits;
    const std::int64_t low = number & (all - 1);
    return static_cast<double>(type == ElementType::I32 && low >= all / 2 ? low - all : low);
}

/// `of` is a function of whole numbers, `name` that of the compute set.
template <class Of> Function of_whole(const char* name, ElementType type, const Of& of) {
    return {.name = name,
            .codelet = "elementwise_whole",
            .vertex = fmt::format("{}_i32", name), // modulo 2^32 both types are the same
            .loop = codelets::kWholeLoop,
            .flops = 0,
            .value = [=](double x, double y) {
                return wrapped(type,
                               of(static_cast<std::int64_t>(x), static_cast<std::int64_t>(y)));
            }};
}

/// A function that the vector unit has as an instruction.
Function of_floats(const char* name, ElementType type, double (*of)(double, double)) {
    return {.name = name,
            .codelet = "elementwise_arithmetic",
            .vertex = fmt::format("{}_{}", name, name_of(type)),
            .loop = codelets::kArithmeticLoop,
            .value = of};
}

/// The larger or the smaller one.
Function chosen(const char* name, ElementType type, double (*of)(double, double)) {
    if (is_float(type)) {
        return of_floats(name, type, of);
    }
    Function made = of_whole(name, type, [of](std::int64_t x, std::int64_t y) {
        return static_cast<std::int64_t>(of(static_cast<double>(x), static_cast<double>(y)));
    });
    if (type == ElementType::U32) {
        made.vertex = fmt::format("{}_u32", name);
        made.loop = codelets::kWholeSelectLoop;
    }
    return made;
}

} // namespace

Function add(ElementType type) {
    const bool is_whole = !is_float(type);
    Function made =
        is_whole ? of_whole("add", type, [](std::int64_t x, std::int64_t y) { return x + y; })
                 : of_floats("add", type, [](double x, double y) { return x + y; });
    made.codelet = is_whole ? "elementwise_add_i32" : "elementwise_add";
    made.loop = is_whole ? codelets::kAddWholeLoop : codelets::kAddLoop;
    made.tolerance = is_whole ? nullptr : one_rounding(type);
    return made;
}

Function subtract(ElementType type) {
    if (!is_float(type)) {
        return of_whole("subtract", type, [](std::int64_t x, std::int64_t y) { return x - y; });
    }
    Function made = of_floats("subtract", type, [](double x, double y) { return x - y; });
    made.tolerance = one_rounding(type);
    return made;
}

Function multiply(ElementType type) {
    if (!is_float(type)) {
        return of_whole("multiply", type, [](std::int64_t x, std::int64_t y) {
            return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) *
                                             static_cast<std::uint64_t>(y));
        });
    }
    Function made = of_floats("multiply", type, [](double x, double y) { return x * y; });
    made.codelet = "elementwise_multiply";
    made.loop = codelets::kMultiplyLoop;
    made.tolerance = one_rounding(type);
    return made;
}

Function divide(ElementType type) {
    return {.name = "divide",
            .codelet = "elementwise_divide",
            .vertex = fmt::format("divide_{}", name_of(type)),
            .loop = type == ElementType::F16 ? codelets::kDivideF16Loop : codelets::kDivideF32Loop,
            .value = [](double x, double y) { return x / y; },
            .tolerance = [type](double x, double y,
                                double) { return (near(type, x) / near(type, y)).off; }};
}

// fmax and fmin, as the machine: of NaN and a number they are the number
Function maximum(ElementType type) {
    return chosen("maximum", type, [](double x, double y) { return std::fmax(x, y); });
}

Function minimum(ElementType type) {
    return chosen("minimum", type, [](double x, double y) { return std::fmin(x, y); });
}

Function narrow(ElementType type, std::int64_t bits) {
    return {.name = "narrow",
            .codelet = "elementwise_whole",
            .vertex = fmt::format("narrow_{}", name_of(type)),
            .loop = codelets::kNarrowWholeLoop,
            .constants = {graph::word(32 - bits)},
            .flops = 0,
            .value = [=](double x, double) {
                return wrapped(type, static_cast<std::int64_t>(x), bits);
            }};
}

} // namespace tessera::function
