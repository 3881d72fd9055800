// SPDX-License-Identifier: MIT
// FP32 operands and results of the aux lane, with the flags they raise. The usual case is inline:
// one test of the result's exponent tells whether anything is special. Source:
// docs/evidence.md#instruction-set (floating point)
#pragma once

#include "models/isa/exec/rounding.h"

namespace tessera::isa::TESSERA_ENGINE {

namespace vector {

/// An FP32 operand: subnormals are zero of the same sign.
TESSERA_INLINE std::uint32_t flushed_bits(std::uint32_t bits) {
    return (bits & 0x7f800000U) == 0 ? bits & 0x80000000U : bits;
}

TESSERA_INLINE float flushed(std::uint32_t bits) {
    return as_f32(flushed_bits(bits));
}

TESSERA_INLINE bool is_nan_f32(std::uint32_t bits) {
    return (bits & 0x7fffffffU) > 0x7f800000U;
}

TESSERA_INLINE bool is_finite_f32(std::uint32_t bits) {
    return (bits & 0x7f800000U) != 0x7f800000U;
}

/// A result that is infinity or NaN, made of the operands x and y: infinity from finite ones is an
/// overflow, NaN from numbers or from a signalling NaN an invalid operation.
[[gnu::noinline]] inline std::uint32_t special_f32(Context& c, const MicroOperation& op,
                                                   std::uint32_t result, std::uint32_t x,
                                                   std::uint32_t y) {
    if (!is_nan_f32(result)) {
        if (is_finite_f32(x) && is_finite_f32(y)) {
            raise(c, op, kFpOverflow);
        }
        return result;
    }
    if (is_signalling_f32(x) || is_signalling_f32(y) || (!is_nan_f32(x) && !is_nan_f32(y))) {
        raise(c, op, kFpInvalid);
    }
    return kNanF32;
}

/// The FP32 result `value` of the operands x and y (the same one twice where there is only one), as
/// it is written.
TESSERA_INLINE std::uint32_t checked_f32(Context& c, const MicroOperation& op, float value,
                                         std::uint32_t x, std::uint32_t y) {
    const std::uint32_t bits = as_bits(value);
    // exponent fields 0 and 255 are the only ones whose successor has no bit above the lowest
    if (((bits + 0x00800000U) & 0x7f000000U) == 0) [[unlikely]] {
        if ((bits & 0x7f800000U) == 0) {
            return bits & 0x80000000U;
        }
        return special_f32(c, op, bits, x, y);
    }
    return bits;
}

} // namespace vector

} // namespace tessera::isa::TESSERA_ENGINE
