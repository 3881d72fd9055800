// SPDX-License-Identifier: MIT
// Aux lane: instructions on the accumulators outside the matrix unit. AACC[2k] is even[k], AACC[2k
// + 1] is odd[k].
#pragma once

#include "models/isa/context.h"
#include "models/isa/exec/vector.h"

namespace tessera::isa::TESSERA_ENGINE {

/// Products are rounded before they are added: not fused.
TESSERA_INLINE void f32mac(Context& c, const MicroOperation& op) {
    c.accumulators.even[0] += vector::flushed(c.aux[op.a]) * vector::flushed(c.aux[op.b]);
}

TESSERA_INLINE void f32v2mac(Context& c, const MicroOperation& op) {
    for (unsigned i = 0; i < 2; ++i) {
        c.accumulators.even[i] +=
            vector::flushed(c.aux[op.a + i]) * vector::flushed(c.aux[op.b + i]);
    }
}

namespace vector {

/// The rounded two-term dot product: exact products of halves, one rounding of their sum.
TESSERA_INLINE float dot2_f16(Context& c, const MicroOperation& op, std::uint32_t x,
                              std::uint32_t y) {
    const float low = operand_f16(c, op, static_cast<std::uint16_t>(x)) *
                      operand_f16(c, op, static_cast<std::uint16_t>(y));
    return std::fma(operand_f16(c, op, static_cast<std::uint16_t>(x >> 16U)),
                    operand_f16(c, op, static_cast<std::uint16_t>(y >> 16U)), low);
}

} // namespace vector

TESSERA_INLINE void f16v2cmac(Context& c, const MicroOperation& op) {
    c.accumulators.even[0] += vector::dot2_f16(c, op, c.aux[op.a], c.aux[op.b]);
}

TESSERA_INLINE void f16v4cmac(Context& c, const MicroOperation& op) {
    for (unsigned i = 0; i < 2; ++i) {
        c.accumulators.even[i] += vector::dot2_f16(c, op, c.aux[op.a + i], c.aux[op.b + i]);
    }
}

TESSERA_INLINE void f32v4acc(Context& c, const MicroOperation& op) {
    for (unsigned i = 0; i < 4; ++i) {
        c.accumulators.even[i] += vector::flushed(c.aux[op.a + i]);
    }
}

TESSERA_INLINE void f16v4acc(Context& c, const MicroOperation& op) {
    float x[4];
    operands_f16x4(c, op, load_pair(c.aux + op.a), x);
    for (unsigned i = 0; i < 4; ++i) {
        c.accumulators.even[i] += x[i];
    }
}

TESSERA_INLINE void f16v8acc(Context& c, const MicroOperation& op) {
    const F32x8 x = operands_f16x8(c, op, load_pair(c.aux + op.a), load_pair(c.aux + op.a + 2));
    (F32x8::load(c.accumulators.even) + x).store(c.accumulators.even);
}

TESSERA_INLINE void f16v4gacc(Context& c, const MicroOperation& op) {
    store_pair(c.aux + op.d, results_f16x4(c, op, c.accumulators.even));
}

namespace vector {

/// Read-and-shift of one bank: the first two accumulators leave, the others move down by two, two
/// new ones enter.
struct Drained {
    float first;
    float second;
};

TESSERA_INLINE Drained drain(Context& c, const MicroOperation& op, float in0, float in1) {
    const auto select = static_cast<unsigned>(op.imm);
    float* bank = (select & 1U) != 0 ? c.accumulators.odd : c.accumulators.even;
    bank += (select & 2U) != 0 ? 8 : 0;
    const Drained out{bank[0], bank[1]};
    for (unsigned i = 0; i < 6; ++i) {
        bank[i] = bank[i + 2];
    }
    bank[6] = in0;
    bank[7] = in1;
    return out;
}

} // namespace vector

TESSERA_INLINE void f32v2gina(Context& c, const MicroOperation& op) {
    const auto out =
        vector::drain(c, op, vector::flushed(c.aux[op.a]), vector::flushed(c.aux[op.a + 1U]));
    const std::uint64_t lo = result_f32(out.first);
    const std::uint64_t hi = result_f32(out.second);
    store_pair(c.aux + op.d, lo | (hi << 32U));
}

TESSERA_INLINE void f16v2gina(Context& c, const MicroOperation& op) {
    const std::uint32_t x = c.aux[op.a];
    const auto out = vector::drain(c, op, operand_f16(c, op, static_cast<std::uint16_t>(x)),
                                   operand_f16(c, op, static_cast<std::uint16_t>(x >> 16U)));
    c.aux[op.d] = results_f16x2(c, op, out.first, out.second);
}

} // namespace tessera::isa::TESSERA_ENGINE
