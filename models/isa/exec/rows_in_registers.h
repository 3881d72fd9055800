// SPDX-License-Identifier: MIT
// Computes rows of the matrix unit in AVX-512 registers, from memory to memory: four registers of
// sums at a time, while the weights stay in registers. A row starts from its partials or from zero,
// adds its four dot products in the order of the steps, and is stored. exec/matrix_loop.h and
// exec/matrix_pass.h choose the rows.
#pragma once

#include "models/isa/exec/numbers.h"

#ifdef __AVX512F__

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tessera::isa::TESSERA_ENGINE {

/// A row is computed here only if all its results are finite. An infinite or NaN operand makes a
/// result infinite or NaN, because neither products nor sums of it are finite.
namespace in_registers {

constexpr unsigned kSums = 4;

struct Places {
    const float* weights;
    const std::byte* x;
    const std::byte* partials; ///< or null
    std::byte* results;
};

/// Sixteen halves as binary32, infinities and NaN too.
TESSERA_INLINE __m512 widened(const std::byte* words) {
    // GCC 12 warns of the one without a mask
    return _mm512_maskz_cvtph_ps(0xffff,
                                 _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words)));
}

/// Adds the four dot products of each register to its sums; `input(i, at)` is what the weights `at`
/// are multiplied by.
template <typename Input>
TESSERA_INLINE void multiply(const __m512 (&w)[16], const Input& input, __m512 (&sums)[kSums]) {
#pragma GCC unroll 4
    for (unsigned phase = 0; phase < 4; ++phase) {
        __m512 dot[kSums];
#pragma GCC unroll 4
        for (unsigned lane = 0; lane < 4; ++lane) {
            const unsigned at = phase * 4U + lane;
#pragma GCC unroll 4
            for (unsigned i = 0; i < kSums; ++i) {
                dot[i] = lane == 0 ? _mm512_mul_ps(input(i, at), w[at])
                                   : _mm512_fmadd_ps(input(i, at), w[at], dot[i]);
            }
        }
#pragma GCC unroll 4
        for (unsigned i = 0; i < kSums; ++i) {
            sums[i] = _mm512_add_ps(sums[i], dot[i]);
        }
    }
}

/// Sixteen channels in a register: FP16 partials.
struct Halves {
    static constexpr unsigned kRows = kSums;

    TESSERA_INLINE static __m512 weights(const float* sixteen) { return _mm512_load_ps(sixteen); }
    TESSERA_INLINE static __m512 start(const float* first) { return _mm512_load_ps(first); }

    TESSERA_INLINE static bool rows(const Places& at, const __m512 (&w)[16], std::uint32_t row,
                                    __m512 first) {
        alignas(64) float inputs[kRows * 16];
        __m512 sums[kRows];
#pragma GCC unroll 4
        for (unsigned r = 0; r < kRows; ++r) {
            const std::uint32_t offset = 32U * (row + r);
            _mm512_store_ps(inputs + 16U * r, widened(at.x + offset));
            sums[r] = at.partials == nullptr ? _mm512_setzero_ps() : widened(at.partials + offset);
        }
        sums[0] = at.partials == nullptr && row == 0 ? first : sums[0];
        // A load broadcasts at no cost. GCC would take the lanes from registers instead, at two
        // permutes each.
        asm("" : "+m"(inputs));
        multiply(
            w, [&](unsigned r, unsigned lane) { return _mm512_set1_ps(inputs[16U * r + lane]); },
            sums);
        __m256i halves[kRows];
        __m256i largest = _mm256_setzero_si256();
#pragma GCC unroll 4
        for (unsigned r = 0; r < kRows; ++r) {
            halves[r] = _mm512_maskz_cvtps_ph(0xffff, sums[r], _MM_FROUND_TO_NEAREST_INT);
            const __m256i size = _mm256_and_si256(halves[r], _mm256_set1_epi16(0x7fff));
            largest = _mm256_max_epu16(largest, size);
        }
        if (_mm256_cmpge_epu16_mask(largest, _mm256_set1_epi16(0x7c00)) != 0) [[unlikely]] {
            return false;
        }
#pragma GCC unroll 4
        for (unsigned r = 0; r < kRows; ++r) {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(at.results + 32U * (row + r)),
                                halves[r]);
        }
        return true;
    }
};

/// FP32 partials: eight channels of two rows in a register, the two rows of a channel side by side.
/// The host flushes subnormals: subnormal partials count as zero, and no sum is subnormal.
struct Singles {
    static constexpr unsigned kRows = 2 * kSums;

    TESSERA_INLINE static __m512 weights(const float* eight) { return twice(eight); }
    TESSERA_INLINE static __m512 start(const float* first) {
        return _mm512_maskz_mov_ps(0x5555, twice(first)); // of the first row alone
    }

    TESSERA_INLINE static bool rows(const Places& at, const __m512 (&w)[16], std::uint32_t row,
                                    __m512 first) {
        const __m512i low = pairs(0);
        const __m512i high = pairs(8);
        const __m512i side_by_side =
            _mm512_setr_epi32(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
        const __m512i apart =
            _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
        alignas(64) float inputs[kSums * 32]; // [pair of rows][input][row]
        __m512 sums[kSums];
#pragma GCC unroll 4
        for (unsigned i = 0; i < kSums; ++i) {
            const std::uint32_t offset = 32U * row + 64U * i;
            const __m512 even = widened(at.x + offset);
            const __m512 odd = widened(at.x + offset + 32U);
            _mm512_store_ps(inputs + 32U * i, _mm512_permutex2var_ps(even, low, odd));
            _mm512_store_ps(inputs + 32U * i + 16U, _mm512_permutex2var_ps(even, high, odd));
            sums[i] = at.partials == nullptr
                          ? _mm512_setzero_ps()
                          : _mm512_maskz_permutexvar_ps(0xffff, side_by_side,
                                                        _mm512_loadu_ps(at.partials + offset));
        }
        sums[0] = at.partials == nullptr && row == 0 ? first : sums[0];
        asm("" : "+m"(inputs));
        multiply(
            w,
            [&](unsigned i, unsigned lane) {
                double both = 0.0;
                std::memcpy(&both, inputs + 32U * i + 2U * lane, sizeof both);
                return _mm512_castpd_ps(_mm512_set1_pd(both));
            },
            sums);
        constexpr int kNoNumber = 0x99; // infinities and NaN
        __mmask16 special = 0;
#pragma GCC unroll 4
        for (unsigned i = 0; i < kSums; ++i) {
            special |= _mm512_fpclass_ps_mask(sums[i], kNoNumber);
        }
        if (special != 0) [[unlikely]] {
            return false;
        }
#pragma GCC unroll 4
        for (unsigned i = 0; i < kSums; ++i) {
            _mm512_storeu_ps(at.results + 32U * row + 64U * i,
                             _mm512_maskz_permutexvar_ps(0xffff, apart, sums[i]));
        }
        return true;
    }

private:
    TESSERA_INLINE static __m512 twice(const float* eight) {
        const __m512i each = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
        return _mm512_maskz_permutexvar_ps(0xffff, each,
                                           _mm512_castps256_ps512(_mm256_load_ps(eight)));
    }
    /// The lanes from `first` on of two registers in turn.
    TESSERA_INLINE static __m512i pairs(int first) {
        const __m512i from_zero =
            _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        return _mm512_add_epi32(from_zero, _mm512_set1_epi32(first));
    }
};

/// Computes rows from `row` on while their results are finite; returns the first row not done.
template <typename Kind>
std::uint32_t run(const Places& at, std::uint32_t row, std::uint32_t count, const float* start) {
    __m512 w[16];
#pragma GCC unroll 16
    for (unsigned lane = 0; lane < 16; ++lane) {
        w[lane] = Kind::weights(at.weights + 16U * lane);
    }
    const __m512 first = Kind::start(start);
    while (row + Kind::kRows <= count && Kind::rows(at, w, row, first)) {
        row += Kind::kRows;
    }
    return row;
}

template <unsigned kChannels> using Kind = std::conditional_t<kChannels == 16, Halves, Singles>;

} // namespace in_registers

} // namespace tessera::isa::TESSERA_ENGINE

#endif
