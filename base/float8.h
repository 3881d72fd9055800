// SPDX-License-Identifier: MIT
// FP8 on the host: converts numbers to the nearest codes of a format, and back. No infinities;
// the code of minus zero is NaN. Source of the formats: arXiv 2206.02915, docs/deviations.md#fp8.
#pragma once

#include "base/element_type.h"
#include "base/float16.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tessera {

struct Float8Format {
    int fraction_bits = 0;
    int bias = 0;
};
/// The format of F143 or F152.
[[nodiscard]] constexpr Float8Format float8_format(ElementType type) {
    return type == ElementType::F143 ? Float8Format{3, 8} : Float8Format{2, 16};
}

inline constexpr std::uint8_t kFloat8Nan = 0x80;

/// The value of a code. It is exact, in binary16 too.
[[nodiscard]] inline float f8_to_f32(std::uint8_t code, ElementType type) {
    if (code == kFloat8Nan) {
        return std::numeric_limits<float>::quiet_NaN();
    }
    const auto [fraction_bits, bias] = float8_format(type);
    const int exponent = (code & 0x7f) >> fraction_bits;
    const int fraction = code & ((1 << fraction_bits) - 1);
    const int significand = exponent == 0 ? fraction : fraction + (1 << fraction_bits);
    const float magnitude =
        std::ldexp(static_cast<float>(significand), std::max(exponent, 1) - bias - fraction_bits);
    return (code & 0x80) != 0 ? -magnitude : magnitude;
}

/// The nearest code, ties to even. Too large values become the largest one, and zeros +0.
[[nodiscard]] inline std::uint8_t f32_to_f8(float value, ElementType type) {
    if (std::isnan(value)) {
        return kFloat8Nan;
    }
    const auto [fraction_bits, bias] = float8_format(type);
    const float magnitude = std::min(std::fabs(value), f8_to_f32(0x7f, type));
    const int exponent = std::max(magnitude > 0 ? std::ilogb(magnitude) : 1 - bias, 1 - bias);
    // in units of the last place; a carry into the next binade also raises the code's exponent
    const float units = std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent));
    const int code = static_cast<int>(units) + ((exponent - (1 - bias)) << fraction_bits);
    const int clamped = std::min(code, 0x7f);
    return static_cast<std::uint8_t>(clamped == 0 ? 0 : clamped | (std::signbit(value) ? 0x80 : 0));
}

} // namespace tessera
