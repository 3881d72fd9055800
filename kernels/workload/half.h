// SPDX-License-Identifier: MIT
// binary64 to binary16 with one rounding, and the tests that operand readers need.
#pragma once

#include "base/float16.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace tessera::workload {

inline constexpr std::uint16_t kHalfExponentMask = 0x7c00U;

/// True for every binary16 pattern but infinities and NaNs.
[[nodiscard]] constexpr bool is_finite_f16(std::uint16_t half) {
    return (half & kHalfExponentMask) != kHalfExponentMask;
}

/// The binary16 bit pattern nearest to a binary64 value, ties to even; overflow gives infinity.
/// The step through binary32 rounds to odd, so that the second rounding sees on which side the
/// value lay.
[[nodiscard]] inline std::uint16_t f64_to_f16(double value) {
    const auto nearest = static_cast<float>(value);
    const auto widened = static_cast<double>(nearest);
    if (widened == value || std::isnan(value)) {
        return f32_to_f16(nearest);
    }
    auto bits = std::bit_cast<std::uint32_t>(nearest);
    if (std::fabs(widened) > std::fabs(value)) {
        --bits;
    }
    return f32_to_f16(std::bit_cast<float>(bits | 1U));
}

} // namespace tessera::workload
