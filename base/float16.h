// SPDX-License-Identifier: MIT
// IEEE binary16 <-> binary32 by integer arithmetic: the plain conversions (infinities and
// subnormals kept, NaN payloads truncated, round to nearest even). The machine's own rules
// (saturation, canonical NaN) stand in models/isa; these serve the host side.
#pragma once

#include <bit>
#include <cstdint>

namespace tessera {

/// The binary32 value of a binary16 bit pattern; exact.
[[nodiscard]] constexpr float f16_to_f32(std::uint16_t half) {
    const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16U;
    const std::uint32_t exponent = (half >> 10U) & 0x1fU;
    std::uint32_t fraction = half & 0x3ffU;
    if (exponent == 0x1f) {
        return std::bit_cast<float>(sign | 0x7f800000U | (fraction << 13U));
    }
    if (exponent != 0) {
        return std::bit_cast<float>(sign | ((exponent + 112U) << 23U) | (fraction << 13U));
    }
    if (fraction == 0) {
        return std::bit_cast<float>(sign);
    }
    std::uint32_t shift = 0;
    while ((fraction & 0x400U) == 0) {
        fraction <<= 1U;
        ++shift;
    }
    return std::bit_cast<float>(sign | ((113U - shift) << 23U) | ((fraction & 0x3ffU) << 13U));
}

/// The binary16 bit pattern nearest to a binary32 value, ties to even; overflow gives infinity.
[[nodiscard]] constexpr std::uint16_t f32_to_f16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint32_t>((bits >> 16U) & 0x8000U);
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude > 0x7f800000U) {
        return static_cast<std::uint16_t>(sign | 0x7e00U | ((magnitude >> 13U) & 0x1ffU));
    }
    if (magnitude >= 0x477ff000U) { // rounds to 65536 or more
        return static_cast<std::uint16_t>(sign | 0x7c00U);
    }
    if (magnitude >= 0x38800000U) { // a normal half
        const std::uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13U) & 1U);
        return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13U));
    }
    if (magnitude < 0x33000000U) { // at most half of the smallest subnormal, exclusive
        return static_cast<std::uint16_t>(sign);
    }
    const std::uint32_t exponent = magnitude >> 23U;
    const std::uint32_t significand = (magnitude & 0x7fffffU) | 0x800000U;
    const std::uint32_t shift = 126U - exponent; // 14 .. 24
    const std::uint32_t kept = significand >> shift;
    const std::uint32_t rest = significand & ((1U << shift) - 1U);
    const std::uint32_t half_way = 1U << (shift - 1U);
    const std::uint32_t up = (rest > half_way || (rest == half_way && (kept & 1U) != 0)) ? 1U : 0U;
    return static_cast<std::uint16_t>(sign | (kept + up));
}

} // namespace tessera
