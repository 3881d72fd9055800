// SPDX-License-Identifier: MIT
// Operands that enter accumulators and sums that leave them. FP32 flags are raised here, not at
// each addition: INV by a signalling NaN that enters, OFLO by an infinite sum that leaves as FP32
// (docs/deviations.md#accumulator-flags).
#pragma once

#include "models/isa/context.h"
#include "models/isa/exec/rounding.h"

namespace tessera::isa::TESSERA_ENGINE::sums {

/// An FP32 operand: subnormals are zero, and there is one NaN.
TESSERA_INLINE float operand(std::uint32_t bits) {
    const std::uint32_t exponent = bits & 0x7f800000U;
    if (exponent == 0) {
        return as_f32(bits & 0x80000000U);
    }
    return as_f32((bits & 0x7fffffffU) > 0x7f800000U ? kNanOperand : bits);
}

TESSERA_INLINE float operand(Context& c, const MicroOperation& op, std::uint32_t bits) {
    if (is_signalling_f32(bits)) [[unlikely]] {
        raise(c, op, kFpInvalid);
    }
    return operand(bits);
}

/// One FP32 result.
TESSERA_INLINE std::uint32_t result(Context& c, const MicroOperation& op, float value) {
    const std::uint32_t bits = result_f32(value);
    if ((bits & 0x7fffffffU) == 0x7f800000U) [[unlikely]] {
        raise(c, op, kFpOverflow);
    }
    return bits;
}

TESSERA_INLINE float first_of(std::uint64_t pair) {
    return as_f32(static_cast<std::uint32_t>(pair));
}
TESSERA_INLINE float second_of(std::uint64_t pair) {
    return as_f32(static_cast<std::uint32_t>(pair >> 32U));
}

/// Two sums that leave: as FP32 (pair_of), or as FP16 (halves_of).
TESSERA_INLINE std::uint64_t pair_of(Context& c, const MicroOperation& op, std::uint64_t pair) {
    const std::uint64_t low = result(c, op, first_of(pair));
    return low | (static_cast<std::uint64_t>(result(c, op, second_of(pair))) << 32U);
}
TESSERA_INLINE std::uint32_t halves_of(Context& c, const MicroOperation& op, std::uint64_t pair) {
    return results_f16x2(c, op, first_of(pair), second_of(pair));
}

} // namespace tessera::isa::TESSERA_ENGINE::sums
