// SPDX-License-Identifier: MIT
// The weight store as the matrix unit reads it: registers widened to binary32 lanes, once after
// each change of the registers or of the type that they are taken as.
#pragma once

#include "models/isa/context.h"
#include "models/isa/exec/quarter.h"
#include "models/isa/exec/rounding.h"
#include "models/isa/exec/sums.h"

namespace tessera::isa::TESSERA_ENGINE::weights {

#ifdef __AVX2__
/// False, and nothing of use done, if one of the halves is infinite or NaN.
inline bool widen_numbers(WeightStore& store) {
    const __m128i exponent = _mm_set1_epi16(0x7c00);
    __m128i special = _mm_setzero_si128();
    const auto pair = [&](unsigned n, unsigned unit) {
        const auto half = [&](unsigned of) {
            return static_cast<long long>(store.registers[of * 4U + n]);
        };
        const __m128i halves = _mm_set_epi64x(half(unit + 1U), half(unit));
        special = _mm_or_si128(special, _mm_cmpeq_epi16(_mm_and_si128(halves, exponent), exponent));
        return halves;
    };
    /// The halves of four units by k: of k = 0 and 1, of k = 2 and 3.
    const auto four = [&](unsigned n, unsigned unit, __m128i& low, __m128i& high) {
        const __m128i even_odd[] = {pair(n, unit), pair(n, unit + 2U)};
        const __m128i even = _mm_unpacklo_epi16(even_odd[0], even_odd[1]);
        const __m128i odd = _mm_unpackhi_epi16(even_odd[0], even_odd[1]);
        low = _mm_unpacklo_epi16(even, odd);
        high = _mm_unpackhi_epi16(even, odd);
    };
    for (unsigned n = 0; n < 4; ++n) {
        for (unsigned unit = 0; unit < 16; unit += 8) {
            __m128i low[2];
            __m128i high[2];
            four(n, unit, low[0], high[0]);
            four(n, unit + 4U, low[1], high[1]);
            const auto put = [&](unsigned k, __m128i halves) {
                _mm256_store_ps(&store.lanes[n][k][unit], _mm256_cvtph_ps(halves));
            };
            put(0, _mm_unpacklo_epi64(low[0], low[1]));
            put(1, _mm_unpackhi_epi64(low[0], low[1]));
            put(2, _mm_unpacklo_epi64(high[0], high[1]));
            put(3, _mm_unpackhi_epi64(high[0], high[1]));
        }
    }
    return _mm_testz_si128(special, special) != 0;
}
#endif

/// Units whose halves in registers n are infinite or signalling raise INV when they are used.
[[gnu::noinline]] inline void widen_halves(WeightStore& store) {
#ifdef __AVX2__
    if (widen_numbers(store)) [[likely]] {
        store.special_units = {};
        store.made_for = WeightLanes::Halves;
        store.channels_made = false;
        store.are_numbers = true;
        return;
    }
#endif
    store.special_units = {};
    store.are_numbers = true;
    for (unsigned unit = 0; unit < 16; ++unit) {
        for (unsigned n = 0; n < 4; ++n) {
            for (unsigned k = 0; k < 4; ++k) {
                const std::uint16_t half = half_of(store.registers[unit * 4 + n], k);
                const bool number = (half & 0x7c00U) != 0x7c00U;
                store.are_numbers = store.are_numbers && number;
                store.lanes[n][k][unit] = number ? widen(half) : as_f32(kNanOperand);
                if (!number && ((half & 0x3ffU) == 0 || is_signalling_f16(half))) {
                    store.special_units[n] =
                        static_cast<std::uint16_t>(store.special_units[n] | (1U << unit));
                }
            }
        }
    }
    store.made_for = store.special_units == std::array<std::uint16_t, 4>{}
                         ? WeightLanes::Halves
                         : WeightLanes::SpecialHalves;
    store.channels_made = false;
}

[[gnu::noinline]] inline void prepare_halves(Context& c, const MicroOperation& op, unsigned n,
                                             unsigned units) {
    WeightStore& store = *c.weights;
    if (store.made_for != WeightLanes::SpecialHalves) {
        widen_halves(store);
    }
    if ((store.special_units[n] & units) != 0) {
        raise(c, op, kFpInvalid);
    }
}

/// The FP16 lanes of registers n, rows of 16 units; `units` is a mask of those that will be used.
TESSERA_INLINE const float* halves(Context& c, const MicroOperation& op, unsigned n,
                                   unsigned units) {
    if (c.weights->made_for != WeightLanes::Halves) [[unlikely]] {
        prepare_halves(c, op, n, units);
    }
    return c.weights->lanes[n][0];
}

[[gnu::noinline]] inline void widen_singles(WeightStore& store) {
    float* const rows = &store.lanes[0][0][0];
    for (unsigned unit = 0; unit < 16; ++unit) {
        for (unsigned n = 0; n < 4; ++n) {
            const std::uint64_t pair = store.registers[unit * 4 + n];
            rows[(2 * n) * 16 + unit] = sums::operand(static_cast<std::uint32_t>(pair));
            rows[(2 * n + 1) * 16 + unit] = sums::operand(static_cast<std::uint32_t>(pair >> 32U));
        }
    }
    store.made_for = WeightLanes::Singles;
}

/// The FP32 values that phase 0..7 multiplies by, one for each of 16 units.
TESSERA_INLINE const float* singles(Context& c, unsigned phase) {
    if (c.weights->made_for != WeightLanes::Singles) [[unlikely]] {
        widen_singles(*c.weights);
    }
    const float* const rows = &c.weights->lanes[0][0][0];
    return rows + 16U * (phase & 7U);
}

[[gnu::noinline]] inline void widen_quarters(WeightStore& store, WeightLanes kind) {
    const quarter::Format format =
        kind == WeightLanes::Quarters152 ? quarter::kF152 : quarter::kF143;
    for (unsigned unit = 0; unit < 16; ++unit) {
        for (unsigned n = 0; n < 4; ++n) {
            for (unsigned k = 0; k < 8; ++k) {
                const auto code =
                    static_cast<std::uint8_t>(store.registers[unit * 4 + n] >> (8U * k));
                store.quarters[n][k][unit] = quarter::widen(code, format);
            }
        }
    }
    store.made_for = kind;
}

/// The FP8 lanes of registers n in the format that FP_NFMT says.
TESSERA_INLINE const float* quarters(Context& c, unsigned n) {
    const WeightLanes kind =
        quarter::weights_are_f143(c) ? WeightLanes::Quarters143 : WeightLanes::Quarters152;
    if (c.weights->made_for != kind) [[unlikely]] {
        widen_quarters(*c.weights, kind);
    }
    return c.weights->quarters[n][0];
}

} // namespace tessera::isa::TESSERA_ENGINE::weights
