// SPDX-License-Identifier: MIT
// Aux lane: division, roots, exponentials, logarithms, tanh and the logistic function. FP32
// division, square root and reciprocal are the host's; the rest is evaluated in binary64 and
// rounded once, in the same way in every engine.
// Source: docs/evidence.md#instruction-set (floating point)
#pragma once

#include "models/isa/elementary.h"
#include "models/isa/exec/vector.h"

#include <limits>

namespace tessera::isa::TESSERA_ENGINE {

namespace transcendental {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Function = double (*)(double);

/// A function value, and the flags that its argument raises.
struct Value {
    double value;
    std::uint32_t flags = 0;
};

/// A function that is defined everywhere, with its limits at the infinities. Flags of overflow come
/// with rounding.
template <Function kFunction> inline Value everywhere(double x, double low, double high) {
    if (x == -kInfinity) {
        return {low};
    }
    return {x == kInfinity ? high : kFunction(x)};
}

inline Value exp(double x) {
    return everywhere<elementary::exp>(x, 0, kInfinity);
}
inline Value exp2(double x) {
    return everywhere<elementary::exp2>(x, 0, kInfinity);
}
inline Value tanh(double x) {
    return everywhere<elementary::tanh>(x, -1, 1);
}
inline Value sigm(double x) {
    return everywhere<elementary::sigmoid>(x, 0, 1);
}

template <Function kFunction> inline Value logarithm(double x) {
    if (x == 0) {
        return {-kInfinity, kFpDivideByZero};
    }
    if (x < 0) {
        return {kNan, kFpInvalid};
    }
    return {x == kInfinity ? x : kFunction(x)};
}

inline Value ln(double x) {
    return logarithm<elementary::ln>(x);
}
inline Value log2(double x) {
    return logarithm<elementary::log2>(x);
}

inline Value oorx(double x) {
    if (x == 0) {
        return {std::signbit(x) ? -kInfinity : kInfinity, kFpDivideByZero};
    }
    if (x < 0) {
        return {kNan, kFpInvalid};
    }
    return {1.0 / std::sqrt(x)};
}

template <Value (*kFunction)(double)>
[[gnu::noinline]] inline std::uint32_t of_f32(Context& c, const MicroOperation& op,
                                              std::uint32_t x) {
    x = vector::flushed_bits(x);
    if (vector::is_nan_f32(x)) {
        return vector::special_f32(c, op, x, x, x);
    }
    const Value result = kFunction(static_cast<double>(as_f32(x)));
    if (result.flags != 0) {
        raise(c, op, result.flags);
        return result.value != result.value ? kNanF32 : as_bits(static_cast<float>(result.value));
    }
    return vector::checked_f32(c, op, static_cast<float>(result.value), x, x);
}

/// Rounded to FP32 in such a way that rounding that to FP16 equals rounding once: an inexact result
/// is truncated and its last bit set.
inline float to_odd(double value) {
    const auto nearest = static_cast<float>(value);
    const auto back = static_cast<double>(nearest);
    if (back == value) {
        return nearest;
    }
    std::uint32_t bits = as_bits(nearest);
    if (std::fabs(back) > std::fabs(value)) {
        --bits;
    }
    return as_f32(bits | 1U);
}

/// Never rounded stochastically. An infinite result is the largest number, as where the exact one
/// is too large.
template <Value (*kFunction)(double)>
inline std::uint16_t half_of_f16(Context& c, const MicroOperation& op, std::uint16_t x) {
    const float operand = operand_f16(c, op, x);
    if (operand != operand) {
        return kNanF16;
    }
    const Value result = kFunction(static_cast<double>(operand));
    if (result.value != result.value) {
        raise(c, op, result.flags);
        return kNanF16;
    }
    const std::uint16_t half = f32_to_f16(to_odd(result.value));
    if ((half & 0x7c00U) != 0x7c00U) {
        return half;
    }
    raise(c, op, result.flags != 0 ? result.flags : kFpOverflow);
    return overflow_f16(c, result.value < 0);
}

template <Value (*kFunction)(double)>
[[gnu::noinline]] inline std::uint32_t of_f16x2(Context& c, const MicroOperation& op,
                                                std::uint32_t x) {
    const std::uint32_t lo = half_of_f16<kFunction>(c, op, static_cast<std::uint16_t>(x));
    const std::uint32_t hi = half_of_f16<kFunction>(c, op, static_cast<std::uint16_t>(x >> 16U));
    return lo | (hi << 16U);
}

inline std::uint32_t quotient(Context& c, const MicroOperation& op, std::uint32_t x,
                              std::uint32_t y) {
    const float result = vector::flushed(x) / vector::flushed(y);
    if (vector::flushed(y) == 0.0F && vector::is_finite_f32(x) && result == result) {
        raise(c, op, kFpDivideByZero);
        return as_bits(result);
    }
    return vector::checked_f32(c, op, result, x, y);
}

} // namespace transcendental

TESSERA_AUX(f32exp, c.aux[op.d] = transcendental::of_f32<transcendental::exp>(c, op, c.aux[op.a]))
TESSERA_AUX(f32exp2, c.aux[op.d] = transcendental::of_f32<transcendental::exp2>(c, op, c.aux[op.a]))
TESSERA_AUX(f32ln, c.aux[op.d] = transcendental::of_f32<transcendental::ln>(c, op, c.aux[op.a]))
TESSERA_AUX(f32log2, c.aux[op.d] = transcendental::of_f32<transcendental::log2>(c, op, c.aux[op.a]))
TESSERA_AUX(f32tanh, c.aux[op.d] = transcendental::of_f32<transcendental::tanh>(c, op, c.aux[op.a]))
TESSERA_AUX(f32sigm, c.aux[op.d] = transcendental::of_f32<transcendental::sigm>(c, op, c.aux[op.a]))
TESSERA_AUX(f32oorx, c.aux[op.d] = transcendental::of_f32<transcendental::oorx>(c, op, c.aux[op.a]))
TESSERA_AUX(f32sqrt,
            c.aux[op.d] = vector::checked_f32(c, op, std::sqrt(vector::flushed(c.aux[op.a])),
                                              c.aux[op.a], c.aux[op.a]))
TESSERA_AUX(f32oox, c.aux[op.d] = transcendental::quotient(c, op, 0x3f800000U, c.aux[op.a]))
TESSERA_AUX(f32div, c.aux[op.d] = transcendental::quotient(c, op, c.aux[op.a], c.aux[op.b]))

TESSERA_AUX(f16v2exp,
            c.aux[op.d] = transcendental::of_f16x2<transcendental::exp>(c, op, c.aux[op.a]))
TESSERA_AUX(f16v2exp2,
            c.aux[op.d] = transcendental::of_f16x2<transcendental::exp2>(c, op, c.aux[op.a]))
TESSERA_AUX(f16v2ln, c.aux[op.d] = transcendental::of_f16x2<transcendental::ln>(c, op, c.aux[op.a]))
TESSERA_AUX(f16v2log2,
            c.aux[op.d] = transcendental::of_f16x2<transcendental::log2>(c, op, c.aux[op.a]))
TESSERA_AUX(f16v2tanh,
            c.aux[op.d] = transcendental::of_f16x2<transcendental::tanh>(c, op, c.aux[op.a]))
TESSERA_AUX(f16v2sigm,
            c.aux[op.d] = transcendental::of_f16x2<transcendental::sigm>(c, op, c.aux[op.a]))

} // namespace tessera::isa::TESSERA_ENGINE
