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

#include <algorithm>
#include <bit>

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
    const Address x = rows.first[0];
    const Address partials = rows.first[1];
    const Address results = rows.first[2];
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

    /// Accumulators that hold nothing, as behind another pass, raise no flag when they leave, and
    /// products of nothing with numbers do not change them.
    [[nodiscard]] bool holds_nothing() const {
        std::uint32_t bits = 0;
        for (const float* bank : {c_.accumulators.even, c_.accumulators.odd}) {
            for (unsigned unit = 0; unit < kChannels; ++unit) {
                bits |= std::bit_cast<std::uint32_t>(bank[unit]);
            }
        }
        return bits == 0 && c_.weights->are_numbers;
    }

    /// Up to where the first row starts.
    void begin() {
        if (holds_nothing()) {
            return;
        }
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
        std::fill_n(c_.accumulators.odd, kChannels, 0.0F);
        std::fill_n(c_.accumulators.even, kChannels, 0.0F);
        if (c_.weights->are_numbers) {
            return;
        }
        alignas(64) float sums[kChannels] = {};
        alignas(64) static constexpr float kNothing[16] = {};
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
