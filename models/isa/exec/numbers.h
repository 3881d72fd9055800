// SPDX-License-Identifier: MIT
// The machine's floating-point rules on single values and short vectors. The caller has set the
// host to round to nearest even with subnormal binary32 inputs and results as zero, which is the
// machine's FP32. Source: docs/evidence.md#instruction-set (floating point)
//
// Everything in exec/ is inline and lives in a namespace that names the host's instruction set,
// because the engine that includes it is compiled once for each.
#pragma once

#include "base/float16.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#endif

// The loop's speed depends on these being inlined. Under a sanitizer the compiler would take
// minutes for them.
#if defined(__SANITIZE_ADDRESS__)
#define TESSERA_INLINE inline
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TESSERA_INLINE inline
#endif
#endif
#ifndef TESSERA_INLINE
#define TESSERA_INLINE [[gnu::always_inline]] inline
#endif

namespace tessera::isa::TESSERA_ENGINE {

inline constexpr std::uint32_t kNanF32 = 0x7fd9c000U; ///< the one NaN that FP32 results have
inline constexpr std::uint16_t kNanF16 = 0x7ece;
/// The NaN that x86 arithmetic makes. A NaN operand enters sums as this one, so that what an
/// accumulator holds never depends on the order in which the host takes two operands.
inline constexpr std::uint32_t kNanOperand = 0xffc00000U;
inline constexpr float kMaxF16 = 65504.0F;

TESSERA_INLINE float as_f32(std::uint32_t bits) {
    return std::bit_cast<float>(bits);
}

TESSERA_INLINE std::uint32_t as_bits(float value) {
    return std::bit_cast<std::uint32_t>(value);
}

/// An FP32 result as it is written: NaN canonical, subnormals as zero of the same sign.
TESSERA_INLINE std::uint32_t result_f32(float value) {
    const std::uint32_t bits = as_bits(value);
    const std::uint32_t exponent = bits & 0x7f800000U;
    if (exponent == 0) [[unlikely]] {
        return bits & 0x80000000U;
    }
    return (bits & 0x7fffffffU) > 0x7f800000U ? kNanF32 : bits;
}

TESSERA_INLINE float widen(std::uint16_t half) {
#ifdef __AVX2__
    return _cvtsh_ss(half);
#else
    return f16_to_f32(half);
#endif
}

TESSERA_INLINE std::uint16_t half_of(std::uint64_t halves, unsigned index) {
    return static_cast<std::uint16_t>(halves >> (16U * index));
}

/// True if a half of the four has all exponent bits set (infinity or NaN).
TESSERA_INLINE bool any_special(std::uint64_t halves) {
    const std::uint64_t exponents = halves & 0x7c007c007c007c00ULL;
    return ((exponents + 0x0400040004000400ULL) & 0x8000800080008000ULL) != 0;
}

TESSERA_INLINE std::uint64_t load_pair(const std::uint32_t* registers) {
    std::uint64_t value = 0;
    std::memcpy(&value, registers, 8);
    return value;
}

TESSERA_INLINE std::uint64_t load_pair(const float* values) {
    std::uint64_t value = 0;
    std::memcpy(&value, values, 8);
    return value;
}

TESSERA_INLINE void store_pair(std::uint32_t* registers, std::uint64_t value) {
    std::memcpy(registers, &value, 8);
}

/// NaN whose first fraction bit is clear. Asked of bit patterns, as a conversion may set that bit.
TESSERA_INLINE bool is_signalling_f32(std::uint32_t bits) {
    return (bits & 0x7fc00000U) == 0x7f800000U && (bits & 0x3fffffU) != 0;
}
TESSERA_INLINE bool is_signalling_f16(std::uint16_t half) {
    return (half & 0x7e00U) == 0x7c00U && (half & 0x1ffU) != 0;
}

/// Eight lanes of binary32, for the accumulators.
struct F32x8 {
#ifdef __AVX2__
    __m256 lanes;
    static F32x8 load(const float* from) {
        return {_mm256_load_ps(from)};
    }
    static F32x8 broadcast(float value) {
        return {_mm256_set1_ps(value)};
    }
    void store(float* to) const {
        _mm256_store_ps(to, lanes);
    }
    /// Lanes 2..7 move down by two; a pair of values enters at the top.
    [[nodiscard]] F32x8 shifted_in(const float* pair) const {
        const __m256 down =
            _mm256_permutevar8x32_ps(lanes, _mm256_setr_epi32(2, 3, 4, 5, 6, 7, 6, 7));
        const __m128i entering = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(pair));
        const __m256 spread = _mm256_castpd_ps(_mm256_broadcastsd_pd(_mm_castsi128_pd(entering)));
        return {_mm256_blend_ps(down, spread, 0xc0)};
    }
    friend F32x8 operator*(F32x8 x, F32x8 y) {
        return {_mm256_mul_ps(x.lanes, y.lanes)};
    }
    friend F32x8 operator+(F32x8 x, F32x8 y) {
        return {_mm256_add_ps(x.lanes, y.lanes)};
    }
    friend F32x8 fma(F32x8 x, F32x8 y, F32x8 z) {
        return {_mm256_fmadd_ps(x.lanes, y.lanes, z.lanes)};
    }
#else
    float lanes[8];
    static F32x8 load(const float* from) {
        F32x8 v{};
        std::memcpy(v.lanes, from, sizeof v.lanes);
        return v;
    }
    static F32x8 broadcast(float value) {
        F32x8 v{};
        for (float& lane : v.lanes) {
            lane = value;
        }
        return v;
    }
    void store(float* to) const {
        std::memcpy(to, lanes, sizeof lanes);
    }
    [[nodiscard]] F32x8 shifted_in(const float* pair) const {
        F32x8 v = *this;
        for (unsigned i = 0; i < 6; ++i) {
            v.lanes[i] = lanes[i + 2];
        }
        v.lanes[6] = pair[0];
        v.lanes[7] = pair[1];
        return v;
    }
    friend F32x8 operator*(F32x8 x, F32x8 y) {
        for (unsigned i = 0; i < 8; ++i) {
            x.lanes[i] *= y.lanes[i];
        }
        return x;
    }
    friend F32x8 operator+(F32x8 x, F32x8 y) {
        for (unsigned i = 0; i < 8; ++i) {
            x.lanes[i] += y.lanes[i];
        }
        return x;
    }
    friend F32x8 fma(F32x8 x, F32x8 y, F32x8 z) {
        for (unsigned i = 0; i < 8; ++i) {
            z.lanes[i] = std::fma(x.lanes[i], y.lanes[i], z.lanes[i]);
        }
        return z;
    }
#endif
};

/// The dot products of eight units, as the chain that Tessera defines
/// (docs/deviations.md#dot-product).
template <unsigned kLanes>
TESSERA_INLINE F32x8 dot_product(const F32x8 (&x)[kLanes], const float* weights,
                                 unsigned lane_stride) {
    F32x8 dot = x[0] * F32x8::load(weights);
    for (unsigned k = 1; k < kLanes; ++k) {
        dot = fma(x[k], F32x8::load(weights + k * lane_stride), dot);
    }
    return dot;
}

} // namespace tessera::isa::TESSERA_ENGINE
