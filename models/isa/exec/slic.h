// SPDX-License-Identifier: MIT
// Aux lane: the matrix unit as a systolic convolution. Sums move down by one engine (two units) a
// step while each unit adds its dot product; two partials enter at the end of the chain, two
// results leave at its start:
//
//   partials -> even[U-2], even[U-1] -> .. -> even[0], even[1] -> results
//   even[u] = even[u + 2] + dot(u)
//
// Source: docs/evidence.md#matrix-unit
#pragma once

#include "models/isa/exec/amp.h"
#include "models/isa/exec/fault.h"

namespace tessera::isa::TESSERA_ENGINE {

namespace slic {

template <typename Products>
TESSERA_INLINE std::uint64_t step_of_set(Context& c, unsigned set, amp::Flag flag,
                                         const Products& products, const amp::Entering& in) {
    float* even = c.accumulators.even + 8U * set;
    const float* partials = in.partials + 2U * set;
    const std::uint64_t result = load_pair(even);
    if (flag.units == 8) {
        products.added_to(F32x8::load(even).shifted_in(partials), set).store(even);
        return result;
    }
    alignas(32) float sums[8] = {};
    std::copy(even + 2, even + flag.units, sums);
    std::copy_n(partials, 2, sums + flag.units - 2);
    products.added_to(F32x8::load(sums), set).store(sums);
    std::copy_n(sums, flag.units, even);
    return result;
}

template <typename Products, unsigned kSets>
TESSERA_INLINE amp::Leaving step(Context& c, const MicroOperation& op, const amp::Entering& in) {
    const amp::Flag flag(op.imm);
    const Products products(c, op, flag, kSets);
    amp::Leaving out{};
    out.first = step_of_set(c, 0, flag, products, in);
    if constexpr (kSets == 2) {
        out.second = step_of_set(c, 1, flag, products, in);
    }
    return out;
}

} // namespace slic

TESSERA_INLINE void f16v4hihov4slic(Context& c, const MicroOperation& op) {
    const auto out = slic::step<amp::HalfProducts, 2>(c, op, amp::partials_of_both(c, op));
    store_pair(c.aux + op.d, results_f16x4(c, op, out.first, out.second));
}

TESSERA_INLINE void f16v4sisoslic(Context& c, const MicroOperation& op) {
    const auto out = slic::step<amp::HalfProducts, 1>(c, op, amp::single_partials(c, op));
    store_pair(c.aux + op.d, sums::pair_of(c, op, out.first));
}

TESSERA_INLINE void f16v4hihoslic(Context& c, const MicroOperation& op) {
    const auto out = slic::step<amp::HalfProducts, 1>(c, op, amp::half_partials(c, op));
    c.aux[op.d] = sums::halves_of(c, op, out.first);
}

TESSERA_INLINE void f16v4sihoslic(Context& c, const MicroOperation& op) {
    const auto out = slic::step<amp::HalfProducts, 1>(c, op, amp::single_partials(c, op));
    c.aux[op.d] = sums::halves_of(c, op, out.first);
}

// What the two instructions of an FP32 step do is not published.
inline void f32sisoslic(Context&, const MicroOperation& op) {
    fault(op, "f32sisoslic is not modelled (docs/deviations.md)", true);
}
inline void f32sisov2slic(Context&, const MicroOperation& op) {
    fault(op, "f32sisov2slic is not modelled (docs/deviations.md)", true);
}

} // namespace tessera::isa::TESSERA_ENGINE
