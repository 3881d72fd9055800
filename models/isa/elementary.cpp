// SPDX-License-Identifier: MIT
#include "models/isa/elementary.h"

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace tessera::isa::elementary {
namespace {

constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kLog2E = 0x1.71547652b82fep+0;
// ln 2 in two parts: the first has 20 zero bits at its end, so that its product with an exponent is
// exact.
constexpr double kLn2High = 0x1.62e42fefp-1;
constexpr double kLn2Low = 0x1.473de6af278edp-34;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kExponentLimit = 1000; ///< 2^x and 2^-x stay normal numbers up to here

/// 2^exponent of a normal number.
double power_of_two(std::int64_t exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52U);
}

/// 1 / k! for k = 0..17.
constexpr auto kInverseFactorial = [] {
    std::array<double, 18> table{};
    double factorial = 1.0; // exact up to 18!
    for (unsigned k = 0; k < table.size(); ++k) {
        table[k] = 1.0 / factorial;
        factorial *= k + 1;
    }
    return table;
}();

/// 1 / (2k + 1) for k = 0..11.
constexpr auto kInverseOdd = [] {
    std::array<double, 12> table{};
    for (unsigned k = 0; k < table.size(); ++k) {
        table[k] = 1.0 / (2 * k + 1);
    }
    return table;
}();

/// The nearest integer, of |x| < 2^51.
double nearest(double x) {
    constexpr double kShift = 0x1.8p52;
    return (x + kShift) - kShift;
}

/// e^x by its series, |x| <= ln(2) / 2 and a little: the first term left out is below 2^-57.
double exp_of_small(double x) {
    double sum = 0.0;
    for (unsigned k = 14; k >= 1; --k) {
        sum = (sum + kInverseFactorial[k]) * x;
    }
    return 1.0 + sum;
}

/// x = fraction * 2^exponent with the fraction in [sqrt(1/2), sqrt(2)).
struct Split {
    double fraction;
    double exponent;
};
Split split(double x) {
    constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52U) - 1U;
    const auto bits = std::bit_cast<std::uint64_t>(x);
    auto exponent = static_cast<std::int64_t>(bits >> 52U) - 1023;
    double fraction = std::bit_cast<double>((bits & kFraction) | (std::uint64_t{1023} << 52U));
    if (fraction >= 0x1.6a09e667f3bcdp+0) {
        fraction *= 0.5;
        ++exponent;
    }
    return {fraction, static_cast<double>(exponent)};
}

/// ln of a fraction: 2 artanh(s) with s = (x - 1) / (x + 1), |s| < 0.1716, by its series.
double ln_of_fraction(double x) {
    const double s = (x - 1.0) / (x + 1.0);
    const double square = s * s;
    double sum = 0.0;
    for (unsigned k = 11; k >= 1; --k) {
        sum = square * (kInverseOdd[k] + sum);
    }
    return 2.0 * (s + s * sum);
}

} // namespace

double exp(double x) {
    if (x > kExponentLimit * kLn2) {
        return kInfinity;
    }
    if (x < -kExponentLimit * kLn2) {
        return 0.0;
    }
    const double n = nearest(x * kLog2E);
    const double rest = (x - n * kLn2High) - n * kLn2Low;
    return exp_of_small(rest) * power_of_two(static_cast<std::int64_t>(n));
}

double exp2(double x) {
    if (x > kExponentLimit) {
        return kInfinity;
    }
    if (x < -kExponentLimit) {
        return 0.0;
    }
    const double n = nearest(x);
    return exp_of_small((x - n) * kLn2) * power_of_two(static_cast<std::int64_t>(n));
}

double ln(double x) {
    const Split parts = split(x);
    return parts.exponent * kLn2High + (parts.exponent * kLn2Low + ln_of_fraction(parts.fraction));
}

double log2(double x) {
    const Split parts = split(x);
    return parts.exponent + ln_of_fraction(parts.fraction) * kLog2E;
}

double tanh(double x) {
    const double magnitude = x < 0 ? -x : x;
    if (magnitude < 0.5) { // sinh / cosh by their series, as 1 - e^-2x would lose digits
        const double square = x * x;
        double sinh = 0.0; // less x, and per x
        double cosh = 0.0; // less one
        for (unsigned k = 16; k >= 2; k -= 2) {
            sinh = (sinh + kInverseFactorial[k + 1]) * square;
            cosh = (cosh + kInverseFactorial[k]) * square;
        }
        return x * (1.0 + sinh) / (1.0 + cosh);
    }
    const double decay = exp(-2.0 * magnitude);
    const double result = (1.0 - decay) / (1.0 + decay);
    return x < 0 ? -result : result;
}

double sigmoid(double x) {
    return 1.0 / (1.0 + exp(-x));
}

} // namespace tessera::isa::elementary
