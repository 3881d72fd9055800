// SPDX-License-Identifier: MIT
// FP16 operands and results with what they do besides: sticky flags, traps, NaN on overflow,
// stochastic rounding. The usual case (no infinity or NaN, rounding to nearest) is inline; the rest
// is out of the way.
// Source: docs/evidence.md#instruction-set (floating point)
#pragma once

#include "models/isa/context.h"
#include "models/isa/csr_numbers.h"
#include "models/isa/exec/fault.h"
#include "models/isa/exec/numbers.h"
#include "models/isa/exec/random.h"

namespace tessera::isa::TESSERA_ENGINE {

/// Sets sticky flags (kFpInvalid, kFpDivideByZero, kFpOverflow), and stops where FP_CTL asks for a
/// trap.
[[gnu::noinline]] inline void raise(Context& c, const MicroOperation& op, std::uint32_t flags) {
    c.fp_status |= flags;
    if ((c.fp_control & flags) != 0) {
        fault(op, "floating-point exception with its trap enabled in FP_CTL");
    }
}

TESSERA_INLINE bool stochastic(const Context& c) {
    return (c.fp_control & kFpStochastic) != 0;
}

/// An FP16 operand of an arithmetic instruction: an infinity acts as a signalling NaN.
inline float operand_f16(Context& c, const MicroOperation& op, std::uint16_t half) {
    if ((half & 0x7c00U) == 0x7c00U) [[unlikely]] {
        if ((half & 0x3ffU) == 0 || is_signalling_f16(half)) {
            raise(c, op, kFpInvalid);
        }
        return as_f32(kNanOperand);
    }
    return widen(half);
}

/// Rounds to FP16 with random bits below the last one: the significand plus random bits, truncated.
inline std::uint16_t stochastic_f16(float value, std::uint32_t random) {
    const std::uint32_t bits = as_bits(value);
    const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
    const int exponent = static_cast<int>((bits >> 23U) & 0xffU) - 127;
    if (exponent < -25) {
        return sign;
    }
    const auto dropped = static_cast<unsigned>(exponent >= -14 ? 13 : 13 + (-14 - exponent));
    const std::uint32_t significand = (bits & 0x7fffffU) | 0x800000U;
    const std::uint32_t kept = (significand + (random & ((1U << dropped) - 1U))) >> dropped;
    // exponent + 14 steps of 1024 lie between the smallest normal number and this one's binade
    const std::uint32_t magnitude =
        exponent >= -14 ? kept + (static_cast<std::uint32_t>(exponent + 14) << 10U) : kept;
    return static_cast<std::uint16_t>(sign | magnitude);
}

/// An FP16 result beyond the largest half: that half, or NaN where FP_CTL asks for it.
inline std::uint16_t overflow_f16(const Context& c, bool negative) {
    if ((c.fp_control & kFpNanOnOverflow) != 0) {
        return kNanF16;
    }
    return negative ? 0xfbff : 0x7bff;
}

/// One FP32 value as FP16 when something about it is special.
inline std::uint16_t special_f16(Context& c, const MicroOperation& op, float value,
                                 std::uint32_t random) {
    const std::uint32_t bits = as_bits(value);
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude >= 0x7f800000U) {
        if (magnitude == 0x7f800000U || is_signalling_f32(bits)) {
            raise(c, op, kFpInvalid);
        }
        return kNanF16;
    }
    std::uint16_t half = 0x7fff;
    if (magnitude < 0x477ff000U) { // 65520 and up round beyond the largest half
        half = stochastic(c) ? stochastic_f16(value, random) : f32_to_f16(value);
    } else if (stochastic(c) && magnitude < 0x47800000U) {
        half = stochastic_f16(value, random);
    }
    if ((half & 0x7c00U) != 0x7c00U) {
        return half;
    }
    raise(c, op, kFpOverflow);
    return overflow_f16(c, std::signbit(value));
}

/// Up to four results of one instruction, of which one is special or which round stochastically.
[[gnu::noinline]] inline std::uint64_t special_f16x4(Context& c, const MicroOperation& op,
                                                     const float* values) {
    random_numbers::Draw random{};
    if (stochastic(c)) {
        random = random_numbers::draw(c);
    }
    std::uint64_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const auto bits = static_cast<std::uint32_t>(((random.r0 >> (16U * i)) & 0xffffU) |
                                                     (((random.r1 >> (8U * i)) & 0xffU) << 16U));
        result |= static_cast<std::uint64_t>(special_f16(c, op, values[i], bits)) << (16U * i);
    }
    return result;
}

/// Four halves as operands of an arithmetic instruction.
TESSERA_INLINE void operands_f16x4(Context& c, const MicroOperation& op, std::uint64_t halves,
                                   float* out) {
#ifdef __AVX2__
    if (!any_special(halves)) [[likely]] {
        _mm_storeu_ps(out, _mm_cvtph_ps(_mm_cvtsi64_si128(static_cast<long long>(halves))));
        return;
    }
#endif
    for (unsigned i = 0; i < 4; ++i) {
        out[i] = operand_f16(c, op, half_of(halves, i));
    }
}

/// Two words of four halves as operands of an arithmetic instruction.
TESSERA_INLINE F32x8 operands_f16x8(Context& c, const MicroOperation& op, std::uint64_t low,
                                    std::uint64_t high) {
#ifdef __AVX2__
    if (!any_special(low) && !any_special(high)) [[likely]] {
        return {_mm256_cvtph_ps(
            _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low)))};
    }
#endif
    alignas(32) float values[8];
    operands_f16x4(c, op, low, values);
    operands_f16x4(c, op, high, values + 4);
    return F32x8::load(values);
}

/// Eight halves from memory as operands of an arithmetic instruction.
TESSERA_INLINE F32x8 load_f16x8(Context& c, const MicroOperation& op, const std::byte* halves) {
    std::uint64_t words[2];
    std::memcpy(words, halves, sizeof words);
    return operands_f16x8(c, op, words[0], words[1]);
}

/// The four FP16 results of one instruction, packed; those beyond its own are to be zero.
TESSERA_INLINE std::uint64_t results_f16x4(Context& c, const MicroOperation& op,
                                           const float* values) {
#ifdef __AVX2__
    const __m128i packed = _mm_cvtps_ph(_mm_loadu_ps(values), _MM_FROUND_TO_NEAREST_INT);
    const auto halves = static_cast<std::uint64_t>(_mm_cvtsi128_si64(packed));
    if (!any_special(halves) && !stochastic(c)) [[likely]] {
        return halves;
    }
#endif
    return special_f16x4(c, op, values);
}

/// The same of two words of two FP32 values each.
TESSERA_INLINE std::uint64_t results_f16x4(Context& c, const MicroOperation& op,
                                           std::uint64_t first, std::uint64_t second) {
#ifdef __AVX2__
    const __m128 values = _mm_castsi128_ps(
        _mm_set_epi64x(static_cast<long long>(second), static_cast<long long>(first)));
    const auto halves = static_cast<std::uint64_t>(
        _mm_cvtsi128_si64(_mm_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT)));
    if (!any_special(halves) && !stochastic(c)) [[likely]] {
        return halves;
    }
#endif
    float unpacked[4];
    std::memcpy(unpacked, &first, 8);
    std::memcpy(unpacked + 2, &second, 8);
    return special_f16x4(c, op, unpacked);
}

/// The two FP16 results of one instruction, packed.
TESSERA_INLINE std::uint32_t results_f16x2(Context& c, const MicroOperation& op, float first,
                                           float second) {
    const float values[4] = {first, second, 0.0F, 0.0F};
    return static_cast<std::uint32_t>(results_f16x4(c, op, values));
}

/// Eight values rounded to FP16 to nearest, as two words: only where rounding is not stochastic.
TESSERA_INLINE void results_f16x8(Context& c, const MicroOperation& op, F32x8 values,
                                  std::uint64_t* words) {
#ifdef __AVX2__
    const __m128i packed = _mm256_cvtps_ph(values.lanes, _MM_FROUND_TO_NEAREST_INT);
    const __m128i exponent = _mm_set1_epi16(0x7c00);
    const __m128i special = _mm_cmpeq_epi16(_mm_and_si128(packed, exponent), exponent);
    if (_mm_testz_si128(special, special) != 0) [[likely]] {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(words), packed);
        return;
    }
#endif
    alignas(32) float lanes[8];
    values.store(lanes);
    words[0] = special_f16x4(c, op, lanes);
    words[1] = special_f16x4(c, op, lanes + 4);
}

} // namespace tessera::isa::TESSERA_ENGINE
