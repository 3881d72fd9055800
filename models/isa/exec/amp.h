// SPDX-License-Identifier: MIT
// Aux lane: the matrix unit. Each of its units adds one dot product a step to its running sum (the
// even bank); partial sums enter and results leave through a shift register (the odd bank).
//
//   partials -> odd[U-1] .. odd[1] odd[0] -> results        swap with even[] in phase 0
//
// Source: docs/evidence.md#matrix-unit; the order of summation: docs/deviations.md#dot-product
#pragma once

#include "models/isa/context.h"
#include "models/isa/exec/rounding.h"
#include "models/isa/exec/sums.h"
#include "models/isa/exec/weights.h"

#include <algorithm>
#include <utility>

namespace tessera::isa::TESSERA_ENGINE {

namespace amp {

/// TAMP_ and TSLIC_ flags: engines - 1 in bits 5:4, the phase or the weight register in bits 3:0.
struct Flag {
    unsigned units; ///< of a set that take part: 2, 4, 6 or 8
    unsigned phase;
    explicit Flag(std::int32_t imm)
        : units(2U * ((static_cast<unsigned>(imm) >> 4U) + 1U)),
          phase(static_cast<unsigned>(imm) & 15U) {}

    /// Mask of the units that take part in `sets` sets.
    [[nodiscard]] unsigned mask(unsigned sets) const {
        const unsigned one = (1U << units) - 1U;
        return sets == 2 ? one | (one << 8U) : one;
    }
};

/// What a step adds to the sums of a set: four FP16 products a unit, ..
struct HalfProducts {
    F32x8 x[4];
    const float* weights;

    HalfProducts(Context& c, const MicroOperation& op, Flag flag, unsigned sets)
        : weights(TESSERA_ENGINE::weights::halves(c, op, flag.phase & 3U, flag.mask(sets))) {
        float lanes[4];
        operands_f16x4(c, op, load_pair(c.aux + op.a), lanes);
        for (unsigned k = 0; k < 4; ++k) {
            x[k] = F32x8::broadcast(lanes[k]);
        }
    }
    [[nodiscard]] F32x8 added_to(F32x8 sums, unsigned set) const {
        return sums + dot_product(x, weights + 8U * set, 16);
    }
};

/// .. or one FP32 product.
struct SingleProducts {
    F32x8 x;
    const float* weights;

    SingleProducts(Context& c, const MicroOperation& op, Flag flag)
        : x(F32x8::broadcast(sums::operand(c, op, c.aux[op.a]))),
          weights(TESSERA_ENGINE::weights::singles(c, flag.phase)) {}
    [[nodiscard]] F32x8 added_to(F32x8 sums, unsigned set) const {
        return sums + x * F32x8::load(weights + 8U * set);
    }
};

/// A step of all eight units of a set, the usual case. Without partials nothing enters or leaves.
template <typename Products>
TESSERA_INLINE void step_of_eight(Context& c, unsigned set, unsigned phase,
                                  const Products& products, const float* partials,
                                  std::uint64_t& result) {
    float* even = c.accumulators.even + 8U * set;
    float* odd = c.accumulators.odd + 8U * set;
    F32x8 sums = F32x8::load(even);
    F32x8 moving = F32x8::load(odd);
    if (phase == 0) {
        std::swap(sums, moving);
        moving.store(odd);
    }
    if (partials != nullptr) {
        std::memcpy(&result, odd, 8);
        moving.shifted_in(partials).store(odd);
    }
    products.added_to(sums, set).store(even);
}

/// A step of the first `flag.units` units.
template <typename Products>
[[gnu::noinline]] void step_of_some(Context& c, unsigned set, Flag flag, const Products& products,
                                    const float* partials, std::uint64_t& result) {
    float* even = c.accumulators.even + 8U * set;
    float* odd = c.accumulators.odd + 8U * set;
    if (flag.phase == 0) {
        std::swap_ranges(even, even + flag.units, odd);
    }
    if (partials != nullptr) {
        std::memcpy(&result, odd, 8);
        std::copy(odd + 2, odd + flag.units, odd);
        std::copy_n(partials, 2, odd + flag.units - 2);
    }
    alignas(32) float sums[8];
    products.added_to(F32x8::load(even), set).store(sums);
    std::copy_n(sums, flag.units, even);
}

template <typename Products>
TESSERA_INLINE void step(Context& c, unsigned set, Flag flag, const Products& products,
                         const float* partials, std::uint64_t& result) {
    if (flag.units == 8) [[likely]] {
        step_of_eight(c, set, flag.phase, products, partials, result);
    } else {
        step_of_some(c, set, flag, products, partials, result);
    }
}

/// Partials of one set: two FP32, or two FP16.
struct Partials {
    float values[2];
};
TESSERA_INLINE Partials single_partials(Context& c, const MicroOperation& op) {
    return {{sums::operand(c, op, c.aux[op.b]), sums::operand(c, op, c.aux[op.b + 1U])}};
}
TESSERA_INLINE Partials half_partials(Context& c, const MicroOperation& op) {
    const std::uint32_t p = c.aux[op.b];
    return {{operand_f16(c, op, static_cast<std::uint16_t>(p)),
             operand_f16(c, op, static_cast<std::uint16_t>(p >> 16U))}};
}

/// A step of one set on FP16 inputs; the two sums that leave.
TESSERA_INLINE std::uint64_t half_step(Context& c, const MicroOperation& op,
                                       const Partials& partials) {
    const Flag flag(op.imm);
    std::uint64_t result = 0;
    step(c, 0, flag, HalfProducts(c, op, flag, 1), partials.values, result);
    return result;
}

/// A step of both sets with four FP16 partials; the results, packed.
template <typename Products>
TESSERA_INLINE void step_of_both(Context& c, const MicroOperation& op, Flag flag,
                                 const Products& products) {
    float partials[4];
    std::uint64_t results[2];
    operands_f16x4(c, op, load_pair(c.aux + op.b), partials);
    step(c, 0, flag, products, partials, results[0]);
    step(c, 1, flag, products, partials + 2, results[1]);
    store_pair(c.aux + op.d, results_f16x4(c, op, results[0], results[1]));
}

} // namespace amp

/// Both sets, FP16 partials and results.
TESSERA_INLINE void f16v4hihov4amp(Context& c, const MicroOperation& op) {
    const amp::Flag flag(op.imm);
    amp::step_of_both(c, op, flag, amp::HalfProducts(c, op, flag, 2));
}

/// One set, FP32 partials and results.
TESSERA_INLINE void f16v4sisoamp(Context& c, const MicroOperation& op) {
    const std::uint64_t out = amp::half_step(c, op, amp::single_partials(c, op));
    store_pair(c.aux + op.d, sums::pair_of(c, op, out));
}

/// One set, FP16 partials and results.
TESSERA_INLINE void f16v4hihoamp(Context& c, const MicroOperation& op) {
    const std::uint64_t out = amp::half_step(c, op, amp::half_partials(c, op));
    c.aux[op.d] = sums::halves_of(c, op, out);
}

/// One set, FP32 partials in, FP16 results.
TESSERA_INLINE void f16v4sihoamp(Context& c, const MicroOperation& op) {
    const std::uint64_t out = amp::half_step(c, op, amp::single_partials(c, op));
    c.aux[op.d] = sums::halves_of(c, op, out);
}

/// FP32 throughout, one set: partials enter and results leave in even phases, other results are zero.
TESSERA_INLINE void f32sisoamp(Context& c, const MicroOperation& op) {
    const amp::Flag flag(op.imm);
    const amp::SingleProducts products(c, op, flag);
    std::uint64_t out = 0;
    if (flag.phase % 2 == 0) {
        const amp::Partials partials = amp::single_partials(c, op);
        amp::step(c, 0, flag, products, partials.values, out);
    } else {
        amp::step(c, 0, flag, products, nullptr, out);
    }
    store_pair(c.aux + op.d, sums::pair_of(c, op, out));
}

/// FP32 throughout, both sets: even phases move the first one's partials and results, odd ones the second's.
TESSERA_INLINE void f32sisov2amp(Context& c, const MicroOperation& op) {
    const amp::Flag flag(op.imm);
    const amp::SingleProducts products(c, op, flag);
    const amp::Partials partials = amp::single_partials(c, op);
    const unsigned moving = flag.phase % 2;
    std::uint64_t out = 0;
    std::uint64_t none = 0;
    amp::step(c, moving, flag, products, partials.values, out);
    amp::step(c, 1 - moving, flag, products, nullptr, none);
    store_pair(c.aux + op.d, sums::pair_of(c, op, out));
}

} // namespace tessera::isa::TESSERA_ENGINE
