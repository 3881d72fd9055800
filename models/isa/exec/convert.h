// SPDX-License-Identifier: MIT
// Aux lane: conversions between FP16, FP32 and integers, and rounding to integral values.
// Source: docs/evidence.md#instruction-set (floating point)
#pragma once

#include "models/isa/exec/vector.h"

#include <limits>

namespace tessera::isa::TESSERA_ENGINE {

namespace convert {

/// A half as FP32: an infinity keeps its value.
TESSERA_INLINE std::uint32_t widened(Context& c, const MicroOperation& op, std::uint16_t half) {
    if ((half & 0x7fffU) > 0x7c00U) [[unlikely]] {
        if (is_signalling_f16(half)) {
            raise(c, op, kFpInvalid);
        }
        return kNanF32;
    }
    return as_bits(widen(half));
}

/// An FP32 value as the source of a conversion to FP16.
TESSERA_INLINE float source(std::uint32_t bits) {
    return vector::flushed(bits);
}

/// FP32 to an integer, to nearest even. What hardware returns beyond the range is not published
/// (docs/deviations.md, integer-range): the nearest value in it, zero for NaN.
template <typename Integer>
TESSERA_INLINE std::uint32_t to_integer(Context& c, const MicroOperation& op, std::uint32_t bits) {
    constexpr double kLowest = std::numeric_limits<Integer>::min();
    constexpr double kLargest = std::numeric_limits<Integer>::max();
    const double value = std::nearbyint(static_cast<double>(vector::flushed(bits)));
    if (value >= kLowest && value <= kLargest) [[likely]] {
        return static_cast<std::uint32_t>(static_cast<Integer>(value));
    }
    raise(c, op, kFpInvalid);
    if (value != value) {
        return 0;
    }
    return static_cast<std::uint32_t>(value < 0 ? std::numeric_limits<Integer>::min()
                                                : std::numeric_limits<Integer>::max());
}

inline float integral(const MicroOperation& op, float value) {
    switch (op.imm) {
    case 0:
        return std::nearbyint(value);
    case 1:
        return std::ceil(value);
    case 2:
        return std::floor(value);
    case 3:
        return std::trunc(value);
    case 4:
        return std::round(value);
    default:
        fault(op, "f32int with a rounding mode that is not 0..4");
    }
}

/// A number in (-1/2, 1/2) from n random bits u: (u + 1/2) / 2^n - 1/2, rounded once.
TESSERA_INLINE std::uint64_t uniform_f32(std::uint32_t u) {
    const double odd = 2.0 * static_cast<double>(u) + 1.0 - 0x1p32;
    return as_bits(static_cast<float>(odd * 0x1p-33));
}
TESSERA_INLINE std::uint32_t uniform_f16x2(std::uint32_t u) {
    const auto one = [](std::uint32_t half) {
        const float odd = 2.0F * static_cast<float>(half) + 1.0F - 0x1p16F;
        return static_cast<std::uint32_t>(f32_to_f16(odd * 0x1p-17F));
    };
    return one(u & 0xffffU) | (one(u >> 16U) << 16U);
}

} // namespace convert

TESSERA_AUX(f16tof32,
            c.aux[op.d] = convert::widened(c, op, static_cast<std::uint16_t>(c.aux[op.a])))
TESSERA_AUX(f32tof16,
            c.aux[op.d] = results_f16x2(c, op, convert::source(c.aux[op.a]), 0.0F) * 0x10001U)
TESSERA_AUX(f32v2tof16, c.aux[op.d] = results_f16x2(c, op, convert::source(c.aux[op.a]),
                                                    convert::source(c.aux[op.a + 1U])))

TESSERA_INLINE void f16v2tof32(Context& c, const MicroOperation& op) {
    const std::uint32_t x = c.aux[op.a];
#ifdef __AVX2__
    if (!any_special(x)) [[likely]] {
        const __m128i singles =
            _mm_castps_si128(_mm_cvtph_ps(_mm_cvtsi32_si128(static_cast<int>(x))));
        store_pair(c.aux + op.d, static_cast<std::uint64_t>(_mm_cvtsi128_si64(singles)));
        return;
    }
#endif
    const std::uint64_t lo = convert::widened(c, op, static_cast<std::uint16_t>(x));
    const std::uint64_t hi = convert::widened(c, op, static_cast<std::uint16_t>(x >> 16U));
    store_pair(c.aux + op.d, lo | (hi << 32U));
}

TESSERA_INLINE void f32v4tof16(Context& c, const MicroOperation& op) {
    float values[4];
    for (unsigned i = 0; i < 4; ++i) {
        values[i] = convert::source(c.aux[op.a + i]);
    }
    store_pair(c.aux + op.d, results_f16x4(c, op, values));
}

TESSERA_AUX(f32fromi32,
            c.aux[op.d] = as_bits(static_cast<float>(static_cast<std::int32_t>(c.aux[op.a]))))
TESSERA_AUX(f32fromui32, c.aux[op.d] = as_bits(static_cast<float>(c.aux[op.a])))
TESSERA_AUX(f32toi32, c.aux[op.d] = convert::to_integer<std::int32_t>(c, op, c.aux[op.a]))
TESSERA_AUX(f32toui32, c.aux[op.d] = convert::to_integer<std::uint32_t>(c, op, c.aux[op.a]))
TESSERA_AUX(f32int,
            c.aux[op.d] = vector::checked_f32(c, op,
                                              convert::integral(op, vector::flushed(c.aux[op.a])),
                                              c.aux[op.a], c.aux[op.a]))

TESSERA_AUX(f32sufromui,
            c.aux[op.d] = static_cast<std::uint32_t>(convert::uniform_f32(c.aux[op.a])))
TESSERA_AUX(f32v2sufromui,
            store_pair(c.aux + op.d, convert::uniform_f32(c.aux[op.a]) |
                                         (convert::uniform_f32(c.aux[op.a + 1U]) << 32U)))
TESSERA_AUX(f16v2sufromui, c.aux[op.d] = convert::uniform_f16x2(c.aux[op.a]))
TESSERA_AUX(f16v4sufromui,
            store_pair(c.aux + op.d,
                       convert::uniform_f16x2(c.aux[op.a]) |
                           (static_cast<std::uint64_t>(convert::uniform_f16x2(c.aux[op.a + 1U]))
                            << 32U)))

} // namespace tessera::isa::TESSERA_ENGINE
