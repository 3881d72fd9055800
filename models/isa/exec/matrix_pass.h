// SPDX-License-Identifier: MIT
// A matrix-unit loop with the code that fills the unit before it and drains it behind, all rows at
// once (decoded_program.h: MatrixPass). Each row starts from its partials, adds its four dot
// products in the order of the steps and is stored where its words leave the unit, so that results
// are those of the bundles bit for bit (tests/unit/models/tile/matrix_pass_test.cpp). Where an
// access could fault, or a row's results could be what a later row reads, nothing is done and the
// bundles are interpreted.
#pragma once

#include "models/isa/exec/matrix_loop.h"
#include "models/isa/exec/memory_access.h"

#include <type_traits>

namespace tessera::isa::TESSERA_ENGINE::matrix_pass {

/// The addresses that instructions of the pass stand at.
struct Code {
    Address first;
    Address end;
};

/// Where the words of each stream begin, and how many rows there are.
struct Rows {
    std::array<Address, 3> first;
    std::uint32_t count;

    [[nodiscard]] std::uint32_t bytes() const { return 32U * count; }
};

inline Rows rows_of(const Context& c, const MatrixPass& pass, std::uint32_t passes) {
    const AddressTriple at = AddressTriple::unpack(c.main + pass.addresses);
    return {{at.a0 - 8U * static_cast<std::uint32_t>(pass.inputs_ahead), at.a1, at.a2},
            passes + pass.more_rows};
}

/// True if no word of one stretch is in the element, or pair of elements, of a word of the other.
inline bool never_meet(const MemoryView& memory, Address x, Address y, std::uint32_t bytes) {
    const auto place = [&memory](Address address) {
        return element_of(memory, address) | 1U; // of a pair of elements both
    };
    return place(x + bytes - 8U) < place(y) || place(y + bytes - 8U) < place(x);
}

/// No instruction touches one memory element twice.
inline bool elements_differ(const Context& c, const MatrixPass& pass, const Rows& rows,
                            std::uint32_t passes) {
    const MemoryView& memory = *c.memory;
    const AddressTriple entry = AddressTriple::unpack(c.main + pass.addresses);
    const std::array<Address, 3> at{entry.a0, entry.a1, entry.a2};
    const auto ok = [&](unsigned a, unsigned b) {
        if (never_meet(memory, rows.first[a], rows.first[b], rows.bytes())) {
            return true;
        }
        const auto address = [&](unsigned stream, std::int32_t word, bool behind) {
            return at[stream] + 8U * static_cast<std::uint32_t>(word) +
                   (behind ? 32U * passes : 0U);
        };
        for (const MatrixPass::Meeting& one : pass.meetings) {
            if (one.stream_a == a && one.stream_b == b &&
                element_of(memory, address(a, one.word_a, one.behind)) ==
                    element_of(memory, address(b, one.word_b, one.behind))) {
                return false;
            }
        }
        return matrix_loop::apart(memory, address(a, pass.at_loop[a], false),
                                  address(b, pass.at_loop[b], false), 32U * passes);
    };
    return ok(0, 2) && (!pass.reads_partials || (ok(0, 1) && ok(1, 2)));
}

inline bool allowed(const Context& c, const MatrixPass& pass, const Rows& rows, const Code& code,
                    std::uint32_t passes) {
    if ((c.fp_control & (kFpStochastic | kFpFlags)) != 0) {
        return false;
    }
    const MemoryView& memory = *c.memory;
    const auto [x, partials, results] = rows.first;
    for (const MatrixPass::Direct& direct : pass.directs) {
        if (c.main[direct.base] + direct.offset_bytes != x + 8U * direct.input) {
            return false;
        }
    }
    const std::uint32_t bytes = rows.bytes();
    const auto within = [&](Address first) { return matrix_loop::inside(memory, first, bytes); };
    const auto fetched = [&] {
        const auto element = [&](Address address) {
            return (address - memory.base) >> memory.element_shift;
        };
        return !matrix_loop::in_region1(memory, x) && memory.fetch_conflict_faults &&
               element(x + bytes - 8U) >= element(code.first) &&
               element(code.end + c.fetch_window_bytes) >= element(x);
    };
    if (!within(x) || !within(results) || !matrix_loop::in_region1(memory, results) || fetched() ||
        !matrix_loop::disjoint(results, bytes, x, bytes)) {
        return false;
    }
    // results may stand where partials stood that were read before, not where later ones are read
    const bool in_turn =
        !pass.reads_partials ||
        (within(partials) && matrix_loop::in_region1(memory, partials) &&
         (results <= partials || matrix_loop::disjoint(results, bytes, partials, bytes)));
    return in_turn && elements_differ(c, pass, rows, passes);
}

#ifdef __AVX512F__
/// Four registers of sums at a time, weights in registers all along. A row is taken only if all its
/// results are numbers: where an operand is infinite or NaN, so is a result, as neither products nor
/// sums make a number of those.
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
        // A load broadcasts for nothing; GCC would take the lanes from registers instead, two
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

/// Eight channels of two rows in a register, those of one channel side by side: FP32 partials.
/// Subnormal ones count as zero in the first sum, and no sum is one: the host is set so.
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

/// Does rows from `row` on, as far as results are numbers; returns the next one.
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

} // namespace in_registers
#endif

/// One pass with all that it leaves.
template <typename Partials> class Runner {
public:
    Runner(Context& c, const MicroOperation& op, const MatrixPass& pass, const Rows& rows)
        : c_(c), op_(op), pass_(pass), rows_(rows),
          weights_(matrix_loop::channel_weights<Partials>(c, op)) {}

    void run(std::uint32_t passes) {
        // the last row's partials may be overwritten by results
        std::uint64_t last_partials[4] = {};
        if (pass_.reads_partials) {
            std::memcpy(last_partials, at(1, rows_.count - 1), sizeof last_partials);
        }
        begin();
        rows();
        leave(last_partials, passes);
    }

private:
    static constexpr unsigned kChannels = Partials::kChannels;

    [[nodiscard]] std::byte* at(unsigned stream, std::uint32_t row) const {
        return c_.memory->bytes + (rows_.first[stream] - c_.memory->base) + 32U * row;
    }

    /// What leaves the unit while nothing is stored may still raise flags.
    void discard(const float* values) {
        std::uint64_t words[4];
        Partials::pack(c_, op_, values, words);
    }

    /// Up to where the first row starts.
    void begin() {
        alignas(64) float sums[kChannels];
        matrix_loop::gather<Partials>(c_.accumulators.even, sums);
        discard(sums);
        matrix_loop::gather<Partials>(c_.accumulators.odd, start_);
        if (pass_.row_in_front) {
            alignas(64) static constexpr float kNothing[16] = {};
            matrix_loop::multiply_rows<Partials, 1>(weights_, kNothing, start_);
            discard(start_);
            std::memset(start_, 0, sizeof start_);
        }
    }

    void rows() {
        std::uint32_t row = 0;
#ifdef __AVX512F__
        using Kind =
            std::conditional_t<kChannels == 16, in_registers::Halves, in_registers::Singles>;
        const in_registers::Places places{weights_, at(0, 0),
                                          pass_.reads_partials ? at(1, 0) : nullptr, at(2, 0)};
        const auto further = [&] {
            return in_registers::run<Kind>(places, row, rows_.count, start_);
        };
        for (row = further(); row + Kind::kRows <= rows_.count; row = further()) {
            for (const std::uint32_t end = row + Kind::kRows; row < end; row += 2) {
                advance<2>(row);
            }
        }
#endif
        for (; row + 2 <= rows_.count; row += 2) {
            advance<2>(row);
        }
        if (row < rows_.count) {
            advance<1>(row);
        }
    }

    template <unsigned kRows> void advance(std::uint32_t row) {
        alignas(64) float inputs[kRows * 16];
        alignas(64) float sums[kRows * kChannels] = {};
        for (unsigned r = 0; r < kRows; ++r) {
            matrix_loop::HalfPartials::load(c_, op_, at(0, row + r), inputs + 16U * r);
            if (pass_.reads_partials) {
                Partials::load(c_, op_, at(1, row + r), sums + kChannels * r);
            }
        }
        if (!pass_.reads_partials && row == 0) {
            std::memcpy(sums, start_, sizeof start_);
        }
        matrix_loop::multiply_rows<Partials, kRows>(weights_, inputs, sums);
        for (unsigned r = 0; r < kRows; ++r) {
            std::uint64_t words[4];
            Partials::pack(c_, op_, sums + kChannels * r, words);
            std::memcpy(at(2, row + r), words, sizeof words);
        }
    }

    /// Registers, addresses and accumulators as the last bundle leaves them: behind a row without
    /// inputs and partials.
    void leave(const std::uint64_t (&last_partials)[4], std::uint32_t passes) {
        for (unsigned pair = 0; pair < pass_.left.size(); ++pair) {
            const MatrixPass::Left& left = pass_.left[pair];
            std::uint64_t word = 0;
            switch (left.kind) {
            case MatrixPass::Left::Kind::Unchanged:
                continue;
            case MatrixPass::Left::Kind::Partial:
                word = last_partials[left.word];
                break;
            case MatrixPass::Left::Kind::Input:
                std::memcpy(&word, at(0, rows_.count - 1) + 8U * left.word, sizeof word);
                break;
            case MatrixPass::Left::Kind::Result:
                std::memcpy(&word, at(2, rows_.count - 1) + 8U * left.word, sizeof word);
                break;
            }
            store_pair(c_.aux + 2U * pair, word);
        }
        AddressTriple next = AddressTriple::unpack(c_.main + pass_.addresses);
        const auto moved = [&](unsigned stream) {
            return 8U * (static_cast<std::uint32_t>(pass_.moved[stream]) + 4U * passes);
        };
        next.a0 += moved(0);
        next.a1 += pass_.reads_partials ? moved(1) : 0U;
        next.a2 += moved(2);
        next.pack(c_.main + pass_.addresses);
        alignas(64) float sums[kChannels] = {};
        alignas(64) static constexpr float kNothing[16] = {};
        matrix_loop::scatter<Partials>(sums, c_.accumulators.odd);
        matrix_loop::multiply_rows<Partials, 1>(weights_, kNothing, sums);
        matrix_loop::scatter<Partials>(sums, c_.accumulators.even);
    }

    Context& c_;
    const MicroOperation& op_; ///< whom a floating-point flag belongs to
    const MatrixPass& pass_;
    Rows rows_;
    const float* weights_;
    alignas(64) float start_[kChannels] = {}; ///< of the first row, where no partials are read
};

/// Does the pass, or nothing; `passes` of its loop.
inline bool run(Context& c, const MicroOperation& op, const MatrixPass& pass, const Code& code,
                std::uint32_t passes) {
    const Rows rows = rows_of(c, pass, passes);
    if (!allowed(c, pass, rows, code, passes)) {
        return false;
    }
    if (pass.half_partials) {
        Runner<matrix_loop::HalfPartials>(c, op, pass, rows).run(passes);
    } else {
        Runner<matrix_loop::SinglePartials>(c, op, pass, rows).run(passes);
    }
    return true;
}

} // namespace tessera::isa::TESSERA_ENGINE::matrix_pass
