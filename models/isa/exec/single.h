// SPDX-License-Identifier: MIT
// FP32 operands and results of the aux lane, with the flags that they raise. The usual case is
// inline: one test of the result's exponent finds all results that need special care. Source:
// docs/evidence.md#instruction-set (floating point)
#pragma once

#include "models/isa/exec/rounding.h"

namespace tessera::isa::TESSERA_ENGINE {

namespace vector {

/// Returns the bits of an FP32 operand as an instruction uses it: a subnormal is a zero of its
/// sign.
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

/// Raises the flags for a result that is infinity or NaN, and returns the bits to write. x and y
/// are the operands. Infinity is an overflow if both are finite. NaN is an invalid operation if
/// neither is NaN, or if one is a signalling NaN.
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

/// Returns the bits to write for the FP32 result `value`, and raises its flags. x and y are the
/// operands; an instruction with one operand passes it twice.
TESSERA_INLINE std::uint32_t checked_f32(Context& c, const MicroOperation& op, float value,
                                         std::uint32_t x, std::uint32_t y) {
    const std::uint32_t bits = as_bits(value);
    // adding 1 modulo 256 gives 0 or 1 for the exponent fields 255 and 0 alone
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
