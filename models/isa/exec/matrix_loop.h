// SPDX-License-Identifier: MIT
// A repeat body that streams rows through the matrix unit, executed a row at a time instead of a
// bundle at a time.
//
// In the steady state of such a body ("load the next input and partial, store an earlier result,
// multiply") a row's sums depend only on its own inputs and its own partials: sums(row) =
// partials(row) + dot_0 + dot_1 + dot_2 + dot_3, added in that order, which is what bundle after
// bundle computes. So the passes behind the first are done here with the same operations in the
// same order on the same values: results are equal bit for bit (tests/unit/tile). Where a
// precondition fails (strides, alignment, overlap, an element or fetch conflict that could arise)
// nothing is done and the bundles are interpreted, with their faults.
#pragma once

#include "models/isa/context.h"
#include "models/isa/decoded_program.h"
#include "models/isa/exec/amp.h"
#include "models/isa/exec/load_store.h"
#include "models/isa/exec/rows_in_registers.h"

namespace tessera::isa::TESSERA_ENGINE::matrix_loop {

/// FP16 partials: both sets, 16 results a row in channel order (two a set in turn); a word holds
/// four of them.
struct HalfPartials {
    static constexpr unsigned kChannels = 16;

    static unsigned unit_of(unsigned channel) {
        return 8U * ((channel >> 1U) & 1U) + 2U * (channel >> 2U) + (channel & 1U);
    }
    static void load(Context& c, const MicroOperation& op, const std::byte* words, float* values) {
#ifdef __AVX2__
        const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words));
        if (all_numbers(halves)) [[likely]] {
            _mm256_store_ps(values, _mm256_cvtph_ps(_mm256_castsi256_si128(halves)));
            _mm256_store_ps(values + 8, _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1)));
            return;
        }
#endif
        load_f16x8(c, op, words).store(values);
        load_f16x8(c, op, words + 16).store(values + 8);
    }
    static void pack(Context& c, const MicroOperation& op, const float* values,
                     std::uint64_t* words) {
#ifdef __AVX2__
        const __m128i low = _mm256_cvtps_ph(_mm256_load_ps(values), _MM_FROUND_TO_NEAREST_INT);
        const __m128i high = _mm256_cvtps_ph(_mm256_load_ps(values + 8), _MM_FROUND_TO_NEAREST_INT);
        const __m256i halves = _mm256_set_m128i(high, low);
        if (all_numbers(halves)) [[likely]] {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(words), halves);
            return;
        }
#endif
        results_f16x8(c, op, F32x8::load(values), words);
        results_f16x8(c, op, F32x8::load(values + 8), words + 2);
    }

#ifdef __AVX2__
    /// True if no half of the sixteen is infinite or NaN.
    static bool all_numbers(__m256i halves) {
        const __m256i exponent = _mm256_set1_epi16(0x7c00);
        const __m256i special = _mm256_cmpeq_epi16(_mm256_and_si256(halves, exponent), exponent);
        return _mm256_testz_si256(special, special) != 0;
    }
#endif
};

/// FP32 partials: one set, eight results a row in unit order; a word holds two of them.
struct SinglePartials {
    static constexpr unsigned kChannels = 8;

    static unsigned unit_of(unsigned channel) { return channel; }
    static void load(Context& c, const MicroOperation& op, const std::byte* words, float* values) {
#ifdef __AVX2__
        const __m256i singles = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words));
        if (all_numbers(singles)) [[likely]] {
            _mm256_store_si256(reinterpret_cast<__m256i*>(values), flushed(singles));
            return;
        }
#endif
        std::uint32_t bits[8];
        std::memcpy(bits, words, sizeof bits);
        for (unsigned i = 0; i < 8; ++i) {
            values[i] = sums::operand(c, op, bits[i]);
        }
    }
    static void pack(Context& c, const MicroOperation& op, const float* values,
                     std::uint64_t* words) {
#ifdef __AVX2__
        const __m256i singles = _mm256_load_si256(reinterpret_cast<const __m256i*>(values));
        if (all_numbers(singles)) [[likely]] {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(words), flushed(singles));
            return;
        }
#endif
        for (unsigned word = 0; word < 4; ++word) {
            words[word] = sums::pair_of(c, op, load_pair(values + 2U * word));
        }
    }

#ifdef __AVX2__
    static __m256i exponents(__m256i singles) {
        return _mm256_and_si256(singles, _mm256_set1_epi32(0x7f800000));
    }
    static bool all_numbers(__m256i singles) {
        const __m256i special =
            _mm256_cmpeq_epi32(exponents(singles), _mm256_set1_epi32(0x7f800000));
        return _mm256_testz_si256(special, special) != 0;
    }
    /// Subnormals as zero of the same sign.
    static __m256i flushed(__m256i singles) {
        const __m256i tiny = _mm256_cmpeq_epi32(exponents(singles), _mm256_setzero_si256());
        return _mm256_andnot_si256(_mm256_srli_epi32(tiny, 1), singles);
    }
#endif
};

/// The three address streams of the passes to be done, each advancing 8 bytes a bundle.
struct Streams {
    AddressTriple at;
    std::uint32_t bundles;
};

inline bool inside(const MemoryView& memory, Address first, std::uint32_t length_bytes) {
    const std::uint32_t offset = first - memory.base;
    return first % 8 == 0 && offset <= memory.span_bytes &&
           length_bytes <= memory.span_bytes - offset;
}

inline bool in_region1(const MemoryView& memory, Address first) {
    return first - memory.base >= memory.region0_bytes;
}

inline bool in_region0(const MemoryView& memory, Address first, std::uint32_t length_bytes) {
    return first - memory.base + length_bytes <= memory.region0_bytes;
}

/// True if two streams that advance together can never meet in a memory element.
inline bool apart(const MemoryView& memory, Address x, Address y, std::uint32_t length_bytes) {
    const bool x_low = in_region0(memory, x, length_bytes);
    const bool y_low = in_region0(memory, y, length_bytes);
    const bool x_high = in_region1(memory, x);
    const bool y_high = in_region1(memory, y);
    if ((x_low && y_high) || (y_low && x_high)) {
        return true;
    }
    if (!x_high || !y_high) {
        return false;
    }
    if (((x ^ y) & 8U) != 0) {
        return true;
    }
    const std::uint32_t shift = memory.element_shift + 1U;
    const auto pair = [&](Address address) {
        return (address - memory.base - memory.region0_bytes) >> shift;
    };
    return pair(x + length_bytes - 8U) < pair(y) || pair(y + length_bytes - 8U) < pair(x);
}

inline bool disjoint(Address x, std::uint32_t x_bytes, Address y, std::uint32_t y_bytes) {
    return x + x_bytes <= y || y + y_bytes <= x;
}

inline bool fetch_apart(const Context& c, Address first, std::uint32_t length_bytes) {
    const MemoryView& memory = *c.memory;
    if (in_region1(memory, first) || !memory.fetch_conflict_faults) {
        return true;
    }
    const auto element = [&](Address address) {
        return (address - memory.base) >> memory.element_shift;
    };
    return element(first + length_bytes - 8U) < element(c.repeat_first) ||
           element(c.repeat_end - 4U) < element(first);
}

inline bool allowed(const Context& c, const MatrixLoop& loop, const Streams& streams) {
    if ((c.fp_control & (kFpStochastic | kFpFlags)) != 0) {
        return false; // the order of random numbers and of traps is that of the bundles
    }
    const MemoryView& memory = *c.memory;
    for (const std::uint8_t selectors : loop.selectors) {
        for (unsigned stream = 0; stream < 3; ++stream) {
            if (pace_step(c.main[loop.stride], (selectors >> (2U * stream)) & 3U) != 8U) {
                return false;
            }
        }
    }
    const std::uint32_t length = streams.bundles * 8U;
    const AddressTriple& at = streams.at;
    const std::uint32_t x_back = loop.input_lag * 8U;
    if (!inside(memory, at.a0 - x_back, length + x_back) || !inside(memory, at.a2, length) ||
        !in_region1(memory, at.a2) || !apart(memory, at.a0, at.a2, length) ||
        !fetch_apart(c, at.a0, length) ||
        !disjoint(at.a2, length, at.a0 - x_back, length + x_back)) {
        return false;
    }
    if (!loop.reads_partials) {
        return true;
    }
    const std::uint32_t p_back = loop.partial_lag * 8U;
    const bool results_trail = at.a2 + 8U * (loop.result_lag + loop.partial_lag) <= at.a1;
    return inside(memory, at.a1 - p_back, length + p_back) && in_region1(memory, at.a1 - p_back) &&
           apart(memory, at.a0, at.a1, length) && apart(memory, at.a1, at.a2, length) &&
           (results_trail || disjoint(at.a2, length, at.a1 - p_back, length + p_back));
}

/// Rows of sixteen units in the order of channels, two of either set in turn.
inline void order_by_channel(const float* units, float* channels) {
#ifdef __AVX2__
    const __m256d first = _mm256_castps_pd(_mm256_load_ps(units));
    const __m256d second = _mm256_castps_pd(_mm256_load_ps(units + 8));
    const __m256d even = _mm256_unpacklo_pd(first, second);
    const __m256d odd = _mm256_unpackhi_pd(first, second);
    _mm256_store_ps(channels, _mm256_castpd_ps(_mm256_permute2f128_pd(even, odd, 0x20)));
    _mm256_store_ps(channels + 8, _mm256_castpd_ps(_mm256_permute2f128_pd(even, odd, 0x31)));
#else
    for (unsigned channel = 0; channel < HalfPartials::kChannels; ++channel) {
        channels[channel] = units[HalfPartials::unit_of(channel)];
    }
#endif
}

/// Weights by channel: [phase][lane][channel], rows of 16.
template <typename Partials>
inline const float* channel_weights(Context& c, const MicroOperation& op) {
    WeightStore& store = *c.weights;
    for (unsigned n = 0; n < 4; ++n) {
        weights::halves(c, op, n, Partials::kChannels == 16 ? 0xffffU : 0xffU);
    }
    if constexpr (Partials::kChannels == 8) {
        return &store.lanes[0][0][0]; // channels are units
    }
    if (!store.channels_made) {
        for (unsigned phase = 0; phase < 4; ++phase) {
            for (unsigned lane = 0; lane < 4; ++lane) {
                order_by_channel(store.lanes[phase][lane], store.channels[phase][lane]);
            }
        }
        store.channels_made = true;
    }
    return &store.channels[0][0][0];
}

/// Adds the four dot products of `kRows` rows (16 inputs each, 16 apart) to their sums.
template <typename Partials, unsigned kRows>
inline void multiply_rows(const float* weights, const float* inputs, float* sums) {
    constexpr unsigned kVectors = Partials::kChannels / 8;
    F32x8 acc[kRows][kVectors];
    for (unsigned r = 0; r < kRows; ++r) {
        for (unsigned v = 0; v < kVectors; ++v) {
            acc[r][v] = F32x8::load(sums + r * Partials::kChannels + 8U * v);
        }
    }
    for (unsigned phase = 0; phase < 4; ++phase) {
        F32x8 dot[kRows][kVectors];
        for (unsigned lane = 0; lane < 4; ++lane) {
            F32x8 w[kVectors];
            for (unsigned v = 0; v < kVectors; ++v) {
                w[v] = F32x8::load(weights + (phase * 4U + lane) * 16U + 8U * v);
            }
            for (unsigned r = 0; r < kRows; ++r) {
                const F32x8 x = F32x8::broadcast(inputs[r * 16U + phase * 4U + lane]);
                for (unsigned v = 0; v < kVectors; ++v) {
                    dot[r][v] = lane == 0 ? x * w[v] : fma(x, w[v], dot[r][v]);
                }
            }
        }
        for (unsigned r = 0; r < kRows; ++r) {
            for (unsigned v = 0; v < kVectors; ++v) {
                acc[r][v] = acc[r][v] + dot[r][v];
            }
        }
    }
    for (unsigned r = 0; r < kRows; ++r) {
        for (unsigned v = 0; v < kVectors; ++v) {
            acc[r][v].store(sums + r * Partials::kChannels + 8U * v);
        }
    }
}

/// The accumulators in channel order, and back.
template <typename Partials> inline void gather(const float* bank, float* channels) {
    for (unsigned channel = 0; channel < Partials::kChannels; ++channel) {
        channels[channel] = bank[Partials::unit_of(channel)];
    }
}

template <typename Partials> inline void scatter(const float* channels, float* bank) {
    for (unsigned channel = 0; channel < Partials::kChannels; ++channel) {
        bank[Partials::unit_of(channel)] = channels[channel];
    }
}

/// The rows of one loop: `finished` are the sums that leave next, `waiting` the partials that the
/// next row starts from.
template <typename Partials> class Rows {
public:
    Rows(Context& c, const MicroOperation& op, const MatrixLoop& loop, const Streams& streams)
        : c_(c), op_(op), loop_(loop), streams_(streams),
          weights_(channel_weights<Partials>(c, op)) {
        gather<Partials>(c.accumulators.even, finished_);
        gather<Partials>(c.accumulators.odd, waiting_);
    }

    void run() {
        store_registers();
        const std::uint32_t rows = streams_.bundles / 4;
        std::uint32_t row = 0;
#ifdef __AVX512F__
        row = advance_in_registers(rows);
#endif
        for (; row + 2 <= rows; row += 2) {
            advance<2>(row);
        }
        if (row < rows) {
            advance<1>(row);
        }
        leave(rows);
    }

private:
    [[nodiscard]] std::byte* at(Address address) const {
        return c_.memory->bytes + (address - c_.memory->base);
    }

    /// The first stores of the passes take results that are still in registers.
    void store_registers() {
        for (unsigned bundle = 0; bundle < loop_.result_lag; ++bundle) {
            const std::uint64_t word = load_pair(c_.aux + loop_.stored[bundle]);
            std::memcpy(at(streams_.at.a2 + 8U * bundle), &word, 8);
        }
    }

    template <unsigned kRows> void advance(std::uint32_t row) {
        constexpr unsigned kChannels = Partials::kChannels;
        alignas(64) float inputs[kRows * 16];
        alignas(64) float sums[kRows * kChannels];
        alignas(64) float fed[kRows * kChannels];
        const Address x = streams_.at.a0 + 32U * row - 8U * loop_.input_lag;
        const Address p = streams_.at.a1 + 32U * row - 8U * loop_.partial_lag;
        for (unsigned r = 0; r < kRows; ++r) {
            HalfPartials::load(c_, op_, at(x + 32U * r), inputs + 16U * r);
            if (loop_.reads_partials) {
                Partials::load(c_, op_, at(p + 32U * r), fed + kChannels * r);
            } else {
                std::memset(fed + kChannels * r, 0, kChannels * sizeof(float));
            }
        }
        std::memcpy(sums, waiting_, sizeof waiting_);
        std::memcpy(sums + kChannels, fed, (kRows - 1) * sizeof waiting_);
        std::memcpy(waiting_, fed + (kRows - 1) * kChannels, sizeof waiting_);
        multiply_rows<Partials, kRows>(weights_, inputs, sums);
        if (!are_stored_) {
            emit(row, finished_);
        }
        are_stored_ = false;
        for (unsigned r = 0; r + 1 < kRows; ++r) {
            emit(row + r + 1, sums + kChannels * r);
        }
        std::memcpy(finished_, sums + (kRows - 1) * kChannels, sizeof finished_);
    }

#ifdef __AVX512F__
    /// Does rows whose results are all stored, but for the first; returns the next one.
    std::uint32_t advance_in_registers(std::uint32_t rows) {
        using Kind = in_registers::Kind<Partials::kChannels>;
        const std::uint32_t behind = 2U + (loop_.result_lag + 3U) / 4U;
        const std::uint32_t end = rows < behind ? 0 : rows - behind + 1;
        // A row's partials are read when it is computed, one row later than the bundles read them.
        const AddressTriple& streams = streams_.at;
        const bool read_in_time =
            !loop_.reads_partials ||
            streams.a2 + 64U + 8U * (loop_.result_lag + loop_.partial_lag) <= streams.a1 ||
            disjoint(streams.a2, 8U * streams_.bundles, streams.a1 - 8U * loop_.partial_lag,
                     8U * (streams_.bundles + loop_.partial_lag));
        if (end < 1 + Kind::kRows || !read_in_time) {
            return 0;
        }
        advance<1>(0);
        const in_registers::Places places{
            weights_, at(streams.a0 - 8U * loop_.input_lag),
            loop_.reads_partials ? at(streams.a1 - 8U * loop_.partial_lag) - 32 : nullptr,
            at(streams.a2 + 8U * (4U + loop_.result_lag))};
        std::uint32_t row = 1;
        while (row + Kind::kRows <= end) {
            const std::uint32_t next = in_registers::run<Kind>(places, row, end, waiting_);
            if (next == row) {
                for (unsigned i = 0; i < Kind::kRows; i += 2, row += 2) {
                    advance<2>(row);
                }
                continue;
            }
            emit(row, finished_);
            row = next;
            are_stored_ = true;
            if (loop_.reads_partials) {
                Partials::load(c_, op_, places.partials + 32U * row, waiting_);
            }
        }
        return row;
    }
#endif

    /// The results that leave during `row`; the last few stay in registers.
    void emit(std::uint32_t row, const float* values) {
        Partials::pack(c_, op_, values, results_);
        const std::uint32_t first = 4U * row + loop_.result_lag;
        if (first + 4U <= streams_.bundles) [[likely]] {
            std::memcpy(at(streams_.at.a2 + 8U * first), results_, sizeof results_);
            return;
        }
        for (unsigned word = 0; word < 4 && first + word < streams_.bundles; ++word) {
            std::memcpy(at(streams_.at.a2 + 8U * (first + word)), &results_[word], 8);
        }
    }

    /// Registers, addresses and accumulators as the last bundle leaves them.
    void leave(std::uint32_t rows) {
        for (unsigned bundle = 0; bundle < 4; ++bundle) {
            const std::uint32_t index = 4U * (rows - 1U) + bundle;
            std::memcpy(c_.aux + loop_.loaded[bundle], at(streams_.at.a0 + 8U * index), 8);
            if (loop_.reads_partials) {
                std::memcpy(c_.aux + loop_.loaded[bundle] + 2U, at(streams_.at.a1 + 8U * index), 8);
            }
            store_pair(c_.aux + loop_.result[bundle], results_[bundle]);
        }
        AddressTriple next = streams_.at;
        next.a0 += 8U * streams_.bundles;
        next.a1 += loop_.reads_partials ? 8U * streams_.bundles : 0U;
        next.a2 += 8U * streams_.bundles;
        next.pack(c_.main + loop_.addresses);
        scatter<Partials>(finished_, c_.accumulators.even);
        scatter<Partials>(waiting_, c_.accumulators.odd);
    }

    Context& c_;
    const MicroOperation& op_; ///< whom a floating-point flag belongs to
    const MatrixLoop& loop_;
    Streams streams_;
    const float* weights_;
    alignas(64) float finished_[Partials::kChannels];
    alignas(64) float waiting_[Partials::kChannels];
    bool are_stored_ = false; ///< the sums that were to leave next
    std::uint64_t results_[4] = {};
};

/// The streams of `rows` rows from `bundles` bundles further on.
inline Streams streams_from(const Context& c, const MatrixLoop& loop, std::uint32_t bundles,
                            std::uint32_t rows) {
    Streams streams{AddressTriple::unpack(c.main + loop.addresses), 4U * rows};
    streams.at.a0 += 8U * bundles;
    streams.at.a1 += loop.reads_partials ? 8U * bundles : 0U;
    streams.at.a2 += 8U * bundles;
    return streams;
}

/// Does `rows` rows; the next bundle is one of phase 0 and the streams are allowed.
inline void run(Context& c, const MicroOperation& body_end, const MatrixLoop& loop,
                const Streams& streams) {
    if (loop.half_partials) {
        Rows<HalfPartials>(c, body_end, loop, streams).run();
    } else {
        Rows<SinglePartials>(c, body_end, loop, streams).run();
    }
}

} // namespace tessera::isa::TESSERA_ENGINE::matrix_loop
