// SPDX-License-Identifier: MIT
// What floating-point results should be, made without the project's own conversions: by MPFR, and
// by exact binary64 arithmetic where speed matters.
#pragma once

#include <bit>
#include <cstdint>
#include <mpfr.h>
#include <random>
#include <vector>

namespace tessera::test {

constexpr std::uint16_t kNanHalf = 0x7ece;
constexpr std::uint32_t kNanSingle = 0x7fd9c000;
constexpr std::uint32_t kInvalid = 1;
constexpr std::uint32_t kDivideByZero = 2;
constexpr std::uint32_t kOverflow = 4;

inline bool half_is_nan(std::uint32_t half) {
    return (half & 0x7fffU) > 0x7c00U;
}
inline bool half_is_infinite(std::uint32_t half) {
    return (half & 0x7fffU) == 0x7c00U;
}
inline bool half_is_signalling(std::uint32_t half) {
    return half_is_nan(half) && (half & 0x200U) == 0;
}
inline bool single_is_nan(std::uint32_t bits) {
    return (bits & 0x7fffffffU) > 0x7f800000U;
}
inline bool single_is_infinite(std::uint32_t bits) {
    return (bits & 0x7fffffffU) == 0x7f800000U;
}
inline bool single_is_signalling(std::uint32_t bits) {
    return single_is_nan(bits) && (bits & 0x400000U) == 0;
}

/// The value of a half; infinities as such, NaN as NaN.
double half_value(std::uint16_t half);
/// The half of a value that one has exactly (an infinity too).
std::uint16_t half_bits(double exact);
/// The nearest half, ties to even, infinity from 65520 up. By binary64 arithmetic.
std::uint16_t nearest_half(double value);

/// The value of an FP32 operand: subnormals are zero.
double single_value(std::uint32_t bits);
/// The bits of a value that is exactly a binary32 number.
std::uint32_t single_bits(double exact);

using Unary = int (*)(mpfr_t, const mpfr_t, mpfr_rnd_t);
using Binary = int (*)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

int mpfr_sigmoid(mpfr_t result, const mpfr_t x, mpfr_rnd_t rounding);
int mpfr_identity(mpfr_t result, const mpfr_t x, mpfr_rnd_t rounding);

/// A function of MPFR, rounded once: to binary16 with subnormals, infinity on overflow; or to
/// binary32, where what is still below the smallest normal number becomes zero.
double in_half(Unary function, double x);
double in_half(Binary function, double x, double y);
double in_single(Unary function, double x);
double in_single(Binary function, double x, double y);

/// The distance of a result from the exact one in units of binary32's last place at the exact one.
double error_in_ulp(Unary function, double x, double result);

/// Special halves of both signs, and random ones until there are `count`.
std::vector<std::uint16_t> some_halves(std::size_t count, unsigned seed);
std::vector<std::uint32_t> some_singles(std::size_t count, unsigned seed);

} // namespace tessera::test
