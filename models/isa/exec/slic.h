// SPDX-License-Identifier: MIT
// Aux lane: the matrix unit as a systolic convolution. Sums move down by one engine (two units) a step while each unit
// adds its dot product; two partials enter at the end of the chain, two results leave at its start:
//
//   partials -> even[U-2], even[U-1] -> .. -> even[0], even[1] -> results        even[u] = even[u + 2] + dot(u)
//
// Source: docs/evidence.md#matrix-unit
#pragma once

#include "models/isa/exec/amp.h"
#include "models/isa/exec/fault.h"

namespace tessera::isa::TESSERA_ENGINE {

namespace slic {

template <typename Products>
TESSERA_INLINE std::uint64_t step(Context& c, unsigned set, amp::Flag flag,
                                  const Products& products, const float* partials) {
    float* even = c.accumulators.even + 8U * set;
    std::uint64_t result = 0;
    std::memcpy(&result, even, 8);
    if (flag.units == 8) [[likely]] {
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

TESSERA_INLINE std::uint64_t half_step(Context& c, const MicroOperation& op,
                                       const amp::Partials& partials) {
    const amp::Flag flag(op.imm);
    return step(c, 0, flag, amp::HalfProducts(c, op, flag, 1), partials.values);
}

template <typename Products>
TESSERA_INLINE void step_of_both(Context& c, const MicroOperation& op, amp::Flag flag,
                                 const Products& products) {
    float partials[4];
    operands_f16x4(c, op, load_pair(c.aux + op.b), partials);
    const std::uint64_t first = step(c, 0, flag, products, partials);
    const std::uint64_t second = step(c, 1, flag, products, partials + 2);
    store_pair(c.aux + op.d, results_f16x4(c, op, first, second));
}

} // namespace slic

TESSERA_INLINE void f16v4hihov4slic(Context& c, const MicroOperation& op) {
    const amp::Flag flag(op.imm);
    slic::step_of_both(c, op, flag, amp::HalfProducts(c, op, flag, 2));
}

TESSERA_INLINE void f16v4sisoslic(Context& c, const MicroOperation& op) {
    const std::uint64_t out = slic::half_step(c, op, amp::single_partials(c, op));
    store_pair(c.aux + op.d, sums::pair_of(c, op, out));
}

TESSERA_INLINE void f16v4hihoslic(Context& c, const MicroOperation& op) {
    const std::uint64_t out = slic::half_step(c, op, amp::half_partials(c, op));
    c.aux[op.d] = sums::halves_of(c, op, out);
}

TESSERA_INLINE void f16v4sihoslic(Context& c, const MicroOperation& op) {
    const std::uint64_t out = slic::half_step(c, op, amp::single_partials(c, op));
    c.aux[op.d] = sums::halves_of(c, op, out);
}

// What the two instructions of an FP32 step do is not published.
inline void f32sisoslic(Context&, const MicroOperation& op) {
    fault(op, "f32sisoslic is not modelled (docs/deviations.md)", true);
}
inline void f32sisov2slic(Context&, const MicroOperation& op) {
    fault(op, "f32sisov2slic is not modelled (docs/deviations.md)", true);
}

} // namespace tessera::isa::TESSERA_ENGINE
