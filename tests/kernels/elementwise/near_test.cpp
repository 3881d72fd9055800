// SPDX-License-Identifier: MIT
// Numbers that the machine has nearly: each rule of how errors carry over, and that no machine is further off.
#include "base/float16.h"
#include "kernels/function/near.h"
#include "kernels/workload/overflow.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

namespace {

using namespace tessera;
using function::Near;

constexpr std::array kTypes{ElementType::F16, ElementType::F32};

void check(const Near& got, ElementType type, double exact, double off) {
    CHECK(got.type == type);
    CHECK(got.exact == Approx(exact).epsilon(1e-15));
    CHECK(got.off == Approx(off).epsilon(1e-12));
}

double logistic(double v) {
    return 1 / (1 + std::exp(-v));
}

} // namespace

TEST_CASE(
    "what numbers are off carries over as their operation has it, and one rounding comes to it",
    "[kernels][elementwise]") {
    for (const ElementType type : kTypes) {
        CAPTURE(name_of(type));
        const auto rounding = [&](double number) { return workload::rounding(type, number); };
        const auto is = [&](const Near& got, double exact, double carried) {
            check(got, type, exact, carried + rounding(std::fabs(exact) + carried));
        };
        const Near a{type, 1.5, 0.25};
        const Near b{type, -4, 0.5};
        check(function::near(type, -1.0 / 3), type, -1.0 / 3, 0);
        is(function::near_constant(type, -1.0 / 3), -1.0 / 3, 0);
        is(a + b, -2.5, 0.25 + 0.5);
        is(a - b, 5.5, 0.25 + 0.5);
        is(b - a, -5.5, 0.25 + 0.5);
        is(a * b, -6, 1.5 * 0.5 + 4 * 0.25 + 0.25 * 0.5);
        is(a / b, -0.375, (0.25 + 0.375 * 0.5) / (4 - 0.5)); // b is 3.5 at least
        is(function::near(type, 3) / function::near(type, -4), -0.75, 0);
        is(a / function::near(type, -4), -0.375, 0.25 / 4);
        is(function::near(type, 3) / b, -0.75, 0.75 * 0.5 / 3.5);
        for (const double off : {4.0, 5.0}) { // the divisor may be 0
            CHECK((a / Near{type, -4, off}).off == std::numeric_limits<double>::infinity());
            CHECK((a / Near{type, -4, off}).exact == -0.375);
        }
        is(sqrt(function::near(type, 2)), std::sqrt(2), 0);
        is(sqrt(Near{type, 4, 0.25}), 2, 2 - std::sqrt(3.75)); // a root falls faster than it rises
        is(sqrt(Near{type, 0.25, 0.25}), 0.5, 0.5);
        is(sqrt(Near{type, 0.25, 1}), 0.5, std::sqrt(1.25) - 0.5); // it is no less than 0
        is(sqrt(Near{type, 0, 0.25}), 0, 0.5);
    }
    // FP16 saturates
    const auto beyond = [](double exact, double carried) {
        return carried + workload::rounding(ElementType::F16, std::fabs(exact) + carried);
    };
    check(function::near_constant(ElementType::F16, -70000), ElementType::F16, -70000,
          beyond(-70000, 70000 - 65504));
    check(function::near_constant(ElementType::F16, 65504), ElementType::F16, 65504,
          beyond(65504, 0));
    check(Near{ElementType::F16, 60000, 8} + Near{ElementType::F16, 10000, 4}, ElementType::F16,
          70000, beyond(70000, 12 + 70000 - 65504));
}

TEST_CASE("a logistic function is as far off as its number, and where that is large as the least "
          "there is",
          "[kernels][elementwise]") {
    for (const auto& [type, roundings] :
         {std::pair{ElementType::F16, 1.0}, {ElementType::F32, 5.0}}) {
        CAPTURE(name_of(type));
        const auto is = [&, type = type, roundings = roundings](double v, double off,
                                                                double carried) {
            check(sigm(Near{type, v, off}), type, logistic(v),
                  carried + roundings * workload::rounding(type, logistic(v) + carried));
        };
        is(0, 0, 0);
        is(0, 0.5, logistic(0.5) - 0.5);
        is(2, 0.5, logistic(2) - logistic(1.5)); // it falls faster than it rises
        is(-2, 0.5, logistic(-1.5) - logistic(-2));
        for (const double v : {33.0, 32.5}) {
            is(v, v - 32, logistic(v) - logistic(32)); // it may be 32
            const double least = 1 - logistic(v);
            check(sigm(Near{type, v, v - 32.25}), type, logistic(v), least);
            check(sigm(Near{type, -v, v - 32.25}), type, logistic(-v), logistic(-v));
        }
    }
}

TEST_CASE("no machine that rounds each step is further off", "[kernels][elementwise]") {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> draw(-1, 1);
    for (const ElementType type : kTypes) {
        const auto rounded = [&](double exact) {
            const auto narrow = static_cast<float>(exact);
            return type == ElementType::F16 ? double{f16_to_f32(f32_to_f16(narrow))}
                                            : double{narrow};
        };
        const auto near = [&] {
            return Near{type, 8 * draw(random), std::ldexp(std::fabs(draw(random)), -6)};
        };
        for (int i = 0; i < 2000; ++i) {
            const Near a = near();
            const Near b = near();
            const double x = a.exact + a.off * draw(random);
            const double y = b.exact + b.off * draw(random);
            CAPTURE(name_of(type), a.exact, a.off, b.exact, b.off, x, y);
            const auto holds = [&](const Near& told, double machine) {
                CHECK(std::fabs(rounded(machine) - told.exact) <= told.off * (1 + 1e-9));
            };
            holds(a + b, x + y);
            holds(a - b, x - y);
            holds(a * b, x * y);
            holds(a / b, x / y);
            if (a.exact >= 0) {
                holds(sqrt(a), std::sqrt(std::max(x, 0.0)));
            }
            holds(sigm(a), logistic(x));
        }
    }
}
