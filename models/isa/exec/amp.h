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

/// The products that a step adds to the sums of a set: four FP16 products a unit, ..
struct HalfProducts {
    F32x8 x[4];
    const float* weights;

    TESSERA_INLINE HalfProducts(Context& c, const MicroOperation& op, Flag flag, unsigned sets)
        : weights(TESSERA_ENGINE::weights::halves(c, op, flag.phase & 3U, flag.mask(sets))) {
        float lanes[4];
        operands_f16x4(c, op, load_pair(c.aux + op.a), lanes);
        for (unsigned k = 0; k < 4; ++k) {
            x[k] = F32x8::broadcast(lanes[k]);
        }
    }
    [[nodiscard]] TESSERA_INLINE F32x8 added_to(F32x8 sums, unsigned set) const {
        return sums + dot_product(x, weights + 8U * set, 16);
    }
};

/// .. or one FP32 product.
struct SingleProducts {
    F32x8 x;
    const float* weights;

    TESSERA_INLINE SingleProducts(Context& c, const MicroOperation& op, Flag flag, unsigned)
        : x(F32x8::broadcast(sums::operand(c, op, c.aux[op.a]))),
          weights(TESSERA_ENGINE::weights::singles(c, flag.phase)) {}
    [[nodiscard]] TESSERA_INLINE F32x8 added_to(F32x8 sums, unsigned set) const {
        return sums + x * F32x8::load(weights + 8U * set);
    }
};

/// Partial sums of a step: two for each set. A set that is not `moving` takes none, and nothing
/// leaves it.
struct Entering {
    float partials[4];
    unsigned moving = 3;
};

/// The results that leave each set: two FP32 numbers; zero where nothing leaves.
struct Leaving {
    std::uint64_t first;
    std::uint64_t second;
};

/// A step of all eight units of a set, the usual case.
template <typename Products>
TESSERA_INLINE std::uint64_t step_of_eight(Context& c, unsigned set, unsigned phase,
                                           const Products& products, const Entering& in) {
    float* even = c.accumulators.even + 8U * set;
    float* odd = c.accumulators.odd + 8U * set;
    F32x8 sums = F32x8::load(even);
    F32x8 moving = F32x8::load(odd);
    if (phase == 0) {
        std::swap(sums, moving);
        moving.store(odd);
    }
    std::uint64_t result = 0;
    if (((in.moving >> set) & 1U) != 0) {
        result = load_pair(odd);
        moving.shifted_in(in.partials + 2U * set).store(odd);
    }
    products.added_to(sums, set).store(even);
    return result;
}

/// A step of the first `flag.units` units of a set.
template <typename Products>
std::uint64_t step_of_some(Context& c, unsigned set, Flag flag, const Products& products,
                           const Entering& in) {
    float* even = c.accumulators.even + 8U * set;
    float* odd = c.accumulators.odd + 8U * set;
    if (flag.phase == 0) {
        std::swap_ranges(even, even + flag.units, odd);
    }
    std::uint64_t result = 0;
    if (((in.moving >> set) & 1U) != 0) {
        result = load_pair(odd);
        std::copy(odd + 2, odd + flag.units, odd);
        std::copy_n(in.partials + 2U * set, 2, odd + flag.units - 2);
    }
    alignas(32) float sums[8];
    products.added_to(F32x8::load(even), set).store(sums);
    std::copy_n(sums, flag.units, even);
    return result;
}

/// Takes everything by value and is not inlined, so that the usual case stays in registers.
template <typename Products, unsigned kSets>
[[gnu::noinline]] Leaving narrow_step(Context& c, const MicroOperation& op, Entering in) {
    const Flag flag(op.imm);
    const Products products(c, op, flag, kSets);
    Leaving out{};
    out.first = step_of_some(c, 0, flag, products, in);
    if constexpr (kSets == 2) {
        out.second = step_of_some(c, 1, flag, products, in);
    }
    return out;
}

template <typename Products, unsigned kSets>
TESSERA_INLINE Leaving step(Context& c, const MicroOperation& op, const Entering& in) {
    const Flag flag(op.imm);
    if (flag.units != 8) [[unlikely]] {
        return narrow_step<Products, kSets>(c, op, in);
    }
    const Products products(c, op, flag, kSets);
    Leaving out{};
    out.first = step_of_eight(c, 0, flag.phase, products, in);
    if constexpr (kSets == 2) {
        out.second = step_of_eight(c, 1, flag.phase, products, in);
    }
    return out;
}

/// Two FP32 partials (for either set), two FP16 ones, or two FP16 ones for each set.
TESSERA_INLINE Entering single_partials(Context& c, const MicroOperation& op) {
    const float first = sums::operand(c, op, c.aux[op.b]);
    const float second = sums::operand(c, op, c.aux[op.b + 1U]);
    return {{first, second, first, second}};
}
TESSERA_INLINE Entering half_partials(Context& c, const MicroOperation& op) {
    const std::uint32_t p = c.aux[op.b];
    return {{operand_f16(c, op, static_cast<std::uint16_t>(p)),
             operand_f16(c, op, static_cast<std::uint16_t>(p >> 16U)), 0, 0}};
}
TESSERA_INLINE Entering partials_of_both(Context& c, const MicroOperation& op) {
    Entering in{};
    operands_f16x4(c, op, load_pair(c.aux + op.b), in.partials);
    return in;
}

} // namespace amp

/// Both sets, FP16 partials and results.
TESSERA_INLINE void f16v4hihov4amp(Context& c, const MicroOperation& op) {
    const auto out = amp::step<amp::HalfProducts, 2>(c, op, amp::partials_of_both(c, op));
    store_pair(c.aux + op.d, results_f16x4(c, op, out.first, out.second));
}

/// One set, FP32 partials and results.
TESSERA_INLINE void f16v4sisoamp(Context& c, const MicroOperation& op) {
    const auto out = amp::step<amp::HalfProducts, 1>(c, op, amp::single_partials(c, op));
    store_pair(c.aux + op.d, sums::pair_of(c, op, out.first));
}

/// One set, FP16 partials and results.
TESSERA_INLINE void f16v4hihoamp(Context& c, const MicroOperation& op) {
    const auto out = amp::step<amp::HalfProducts, 1>(c, op, amp::half_partials(c, op));
    c.aux[op.d] = sums::halves_of(c, op, out.first);
}

/// One set, FP32 partials in, FP16 results.
TESSERA_INLINE void f16v4sihoamp(Context& c, const MicroOperation& op) {
    const auto out = amp::step<amp::HalfProducts, 1>(c, op, amp::single_partials(c, op));
    c.aux[op.d] = sums::halves_of(c, op, out.first);
}

/// FP32 throughout, one set: partials enter and results leave in even phases, other results are
/// zero.
TESSERA_INLINE void f32sisoamp(Context& c, const MicroOperation& op) {
    amp::Entering in{};
    in.moving = 0;
    if (amp::Flag(op.imm).phase % 2 == 0) {
        in = amp::single_partials(c, op);
    }
    const auto out = amp::step<amp::SingleProducts, 1>(c, op, in);
    store_pair(c.aux + op.d, sums::pair_of(c, op, out.first));
}

/// FP32 throughout, both sets: even phases move the first one's partials and results, odd ones the
/// second's.
TESSERA_INLINE void f32sisov2amp(Context& c, const MicroOperation& op) {
    amp::Entering in = amp::single_partials(c, op);
    in.moving = 1U << (amp::Flag(op.imm).phase % 2);
    const auto out = amp::step<amp::SingleProducts, 2>(c, op, in);
    store_pair(c.aux + op.d, sums::pair_of(c, op, out.first | out.second));
}

} // namespace tessera::isa::TESSERA_ENGINE
