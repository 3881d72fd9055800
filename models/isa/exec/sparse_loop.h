// SPDX-License-Identifier: MIT
// Executes the inner loop of element-sparse products in host vector registers, instead of bundle by
// bundle (SparseLoop in decoded_program.h). A pass is one iteration of this loop. It adds the
// previous pass's products to the accumulators, multiplies the next eight FP16 elements by the
// current sparse value, and loads the next value. Passes run here until one needs special care: an
// infinity, a NaN, stochastic rounding or an illegal access. The interpreter executes that pass,
// from its first bundle on, and all passes after it.
#pragma once

#include "models/isa/context.h"
#include "models/isa/decoded_program.h"
#include "models/isa/exec/memory_access.h"
#include "models/isa/exec/rounding.h"

namespace tessera::isa::TESSERA_ENGINE {

namespace sparse_loop {

#ifdef __AVX2__

/// Checks whether accesses of the running repeat are legal. For an illegal one, the interpreter
/// reports the reason.
struct Legal {
    explicit Legal(const Context& c)
        : memory(*c.memory), region0(memory.fetch_conflict_faults ? memory.region0_bytes : 0),
          first_element((c.repeat_first - memory.base) >> memory.element_shift),
          last_element((c.repeat_end - 4 - memory.base) >> memory.element_shift) {}

    [[nodiscard]] TESSERA_INLINE bool access(std::uint32_t offset, unsigned bytes,
                                             unsigned alignment) const {
        return offset <= memory.span_bytes - bytes && (offset + memory.base) % alignment == 0 &&
               (offset >= region0 || !fetched(offset >> memory.element_shift));
    }

private:
    [[nodiscard]] bool fetched(std::uint32_t element) const {
        return element >= first_element && element <= last_element;
    }

public:
    const MemoryView& memory;
    std::uint32_t region0; ///< size of the memory in which accesses can conflict with fetches
    std::uint32_t first_element;
    std::uint32_t last_element;
};

TESSERA_INLINE bool any_special_lane(__m128i halves) {
    const __m128i exponent = _mm_set1_epi16(0x7c00);
    const __m128i special = _mm_cmpeq_epi16(_mm_and_si128(halves, exponent), exponent);
    return _mm_testz_si128(special, special) == 0;
}

/// Runs passes of the repeat that has just been entered, as long as they need no special care.
/// Returns the number of passes that it ran.
[[gnu::noinline]] std::uint32_t run(Context& c, const SparseLoop& loop) {
    const std::uint32_t passes = c.repeat_count;
    const Legal legal(c);
    const MemoryView& memory = legal.memory;
    std::uint32_t delta = c.main[loop.delta];
    Address list = c.main[loop.deltas];
    Address value_address = c.main[loop.values];
    auto value = static_cast<std::uint16_t>(c.aux[loop.value]);
    std::uint32_t value_register = c.aux[loop.value];
    __m128i products = _mm_loadu_si128(reinterpret_cast<const __m128i*>(c.aux + loop.products));
    if (stochastic(c) || delta > 0xffff || any_special_lane(products)) {
        return 0;
    }
    __m256 sums = _mm256_load_ps(c.accumulators.even);
    __m128i halves = _mm_setzero_si128();
    std::uint32_t done = 0;
    for (; done < passes; ++done) {
        const std::uint32_t at = c.main[loop.x] + delta - memory.base;
        const std::uint32_t list_at = list - memory.base;
        const std::uint32_t value_at = value_address - memory.base;
        if (!legal.access(at, 16, 8) || (at + 8 < legal.region0 && !legal.access(at + 8, 8, 8)) ||
            !legal.access(list_at, 2, 2) || !legal.access(value_at, 2, 2) ||
            element_of(memory, at + memory.base) == element_of(memory, list) ||
            (value & 0x7c00U) == 0x7c00U) {
            break;
        }
        const __m128i loaded = _mm_loadu_si128(reinterpret_cast<const __m128i*>(memory.bytes + at));
        const __m256 factor =
            _mm256_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(static_cast<int>(value))));
        const __m128i rounded = _mm256_cvtps_ph(_mm256_mul_ps(factor, _mm256_cvtph_ps(loaded)),
                                                _MM_FROUND_TO_NEAREST_INT);
        if (any_special_lane(loaded) || any_special_lane(rounded)) {
            break;
        }
        sums = _mm256_add_ps(sums, _mm256_cvtph_ps(products));
        products = rounded;
        halves = loaded;
        std::uint16_t next_delta = 0;
        std::memcpy(&next_delta, memory.bytes + list_at, sizeof next_delta);
        delta = next_delta;
        list += 2;
        std::memcpy(&value, memory.bytes + value_at, sizeof value);
        value_register = value * 0x10001U;
        value_address += 2;
    }
    if (done > 0) {
        _mm256_store_ps(c.accumulators.even, sums);
        // products last: if they share registers with the halves, the registers must hold products
        store_pair(c.aux + loop.high, static_cast<std::uint64_t>(_mm_extract_epi64(halves, 1)));
        store_pair(c.aux + loop.low, static_cast<std::uint64_t>(_mm_cvtsi128_si64(halves)));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(c.aux + loop.products), products);
        c.main[loop.delta] = delta;
        c.main[loop.deltas] = list;
        c.main[loop.values] = value_address;
        c.aux[loop.value] = value_register;
    }
    return done;
}

#else

/// Leaves all passes to the interpreter, which is as fast without AVX2.
inline std::uint32_t run(Context&, const SparseLoop&) {
    return 0;
}

#endif

} // namespace sparse_loop

} // namespace tessera::isa::TESSERA_ENGINE
