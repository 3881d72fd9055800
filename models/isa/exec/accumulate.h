// SPDX-License-Identifier: MIT
// Aux lane: instructions on the accumulators outside the matrix unit. AACC[2k] is even[k], AACC[2k
// + 1] is odd[k]. Where two FP32 are multiplied the product is rounded before it is added: not
// fused.
#pragma once

#include "models/isa/context.h"
#include "models/isa/exec/rounding.h"
#include "models/isa/exec/sums.h"

namespace tessera::isa::TESSERA_ENGINE {

namespace sums {

TESSERA_INLINE void add_f32_product(Context& c, const MicroOperation& op, unsigned to,
                                    std::uint32_t x, std::uint32_t y) {
    c.accumulators.even[to] += operand(c, op, x) * operand(c, op, y);
}

/// x0 * y0 + x1 * y1, rounded once: the first product of halves is exact.
TESSERA_INLINE float dot2(float x0, float y0, float x1, float y1) {
    return std::fma(x1, y1, x0 * y0);
}

/// The two-term dot product of the halves of two registers.
TESSERA_INLINE float dot2_f16(Context& c, const MicroOperation& op, std::uint32_t x,
                              std::uint32_t y) {
    return dot2(operand_f16(c, op, static_cast<std::uint16_t>(x)),
                operand_f16(c, op, static_cast<std::uint16_t>(y)),
                operand_f16(c, op, static_cast<std::uint16_t>(x >> 16U)),
                operand_f16(c, op, static_cast<std::uint16_t>(y >> 16U)));
}

/// |x|, but a NaN stays the one that accumulators hold.
TESSERA_INLINE float magnitude(float x) {
    return x != x ? as_f32(kNanOperand) : as_f32(as_bits(x) & 0x7fffffffU);
}

TESSERA_INLINE void add_magnitude(Context& c, unsigned to, float x) {
    float& sum = c.accumulators.even[to];
    sum = magnitude(sum) + magnitude(x);
}

} // namespace sums

TESSERA_INLINE void f32mac(Context& c, const MicroOperation& op) {
    sums::add_f32_product(c, op, 0, c.aux[op.a], c.aux[op.b]);
}

TESSERA_INLINE void f32v2mac(Context& c, const MicroOperation& op) {
    for (unsigned i = 0; i < 2; ++i) {
        sums::add_f32_product(c, op, i, c.aux[op.a + i], c.aux[op.b + i]);
    }
}

/// The outer product of two pairs; the constant has no effect (it is published so).
TESSERA_INLINE void f32v2aop(Context& c, const MicroOperation& op) {
    for (unsigned i = 0; i < 4; ++i) {
        sums::add_f32_product(c, op, i, c.aux[op.a + i % 2U], c.aux[op.b + i / 2U]);
    }
}

TESSERA_INLINE void f16v2cmac(Context& c, const MicroOperation& op) {
    c.accumulators.even[0] += sums::dot2_f16(c, op, c.aux[op.a], c.aux[op.b]);
}

TESSERA_INLINE void f16v4cmac(Context& c, const MicroOperation& op) {
    for (unsigned i = 0; i < 2; ++i) {
        c.accumulators.even[i] += sums::dot2_f16(c, op, c.aux[op.a + i], c.aux[op.b + i]);
    }
}

TESSERA_INLINE void f32v4acc(Context& c, const MicroOperation& op) {
    for (unsigned i = 0; i < 4; ++i) {
        c.accumulators.even[i] += sums::operand(c, op, c.aux[op.a + i]);
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

TESSERA_INLINE void f32v4absacc(Context& c, const MicroOperation& op) {
    for (unsigned i = 0; i < 4; ++i) {
        sums::add_magnitude(c, i, sums::operand(c, op, c.aux[op.a + i]));
    }
}

TESSERA_INLINE void f16v4absacc(Context& c, const MicroOperation& op) {
    float x[4];
    operands_f16x4(c, op, load_pair(c.aux + op.a), x);
    for (unsigned i = 0; i < 4; ++i) {
        sums::add_magnitude(c, i, x[i]);
    }
}

TESSERA_INLINE void f16v8absacc(Context& c, const MicroOperation& op) {
    alignas(32) float x[8];
    operands_f16x8(c, op, load_pair(c.aux + op.a), load_pair(c.aux + op.a + 2)).store(x);
    for (unsigned i = 0; i < 8; ++i) {
        sums::add_magnitude(c, i, x[i]);
    }
}

TESSERA_INLINE void f32v4sqacc(Context& c, const MicroOperation& op) {
    for (unsigned i = 0; i < 4; ++i) {
        sums::add_f32_product(c, op, i, c.aux[op.a + i], c.aux[op.a + i]);
    }
}

TESSERA_INLINE void f16v8sqacc(Context& c, const MicroOperation& op) {
    const F32x8 x = operands_f16x8(c, op, load_pair(c.aux + op.a), load_pair(c.aux + op.a + 2));
    (F32x8::load(c.accumulators.even) + x * x).store(c.accumulators.even);
}

TESSERA_INLINE void f16v4gacc(Context& c, const MicroOperation& op) {
    store_pair(c.aux + op.d, results_f16x4(c, op, c.accumulators.even));
}

/// Pipelined by one: what the instruction computes leaves with the next.
TESSERA_INLINE void f32v2axpy(Context& c, const MicroOperation& op) {
    const float factor = sums::operand(c, op, c.tas);
    const std::uint64_t x = load_pair(c.aux + op.a);
    const std::uint64_t y = load_pair(c.aux + op.b);
    store_pair(c.aux + op.d, sums::pair_of(c, op, load_pair(c.accumulators.even)));
    for (unsigned i = 0; i < 2; ++i) {
        c.accumulators.even[i] =
            factor * sums::operand(c, op, static_cast<std::uint32_t>(x >> (32U * i))) +
            sums::operand(c, op, static_cast<std::uint32_t>(y >> (32U * i)));
    }
}

/// Pipelined by one like f32v2axpy; the two scalars are the halves of $TAS.
TESSERA_INLINE void f16v4mix(Context& c, const MicroOperation& op) {
    float x[4];
    float y[4];
    operands_f16x4(c, op, load_pair(c.aux + op.a), x);
    operands_f16x4(c, op, load_pair(c.aux + op.b), y);
    const float x_factor = operand_f16(c, op, static_cast<std::uint16_t>(c.tas));
    const float y_factor = operand_f16(c, op, static_cast<std::uint16_t>(c.tas >> 16U));
    store_pair(c.aux + op.d, results_f16x4(c, op, c.accumulators.even));
    for (unsigned i = 0; i < 4; ++i) {
        c.accumulators.even[i] = sums::dot2(x_factor, x[i], y_factor, y[i]);
    }
}

namespace sums {

/// Read-and-shift of one bank: the first two accumulators leave, the others move down by two, two
/// new ones enter.
TESSERA_INLINE std::uint64_t drain(Context& c, const MicroOperation& op, float in0, float in1) {
    const auto select = static_cast<unsigned>(op.imm);
    float* bank = (select & 1U) != 0 ? c.accumulators.odd : c.accumulators.even;
    bank += (select & 2U) != 0 ? 8 : 0;
    std::uint64_t out = 0;
    std::memcpy(&out, bank, 8);
    for (unsigned i = 0; i < 6; ++i) {
        bank[i] = bank[i + 2];
    }
    bank[6] = in0;
    bank[7] = in1;
    return out;
}

} // namespace sums

TESSERA_INLINE void f32v2gina(Context& c, const MicroOperation& op) {
    const float in0 = sums::operand(c, op, c.aux[op.a]);
    const float in1 = sums::operand(c, op, c.aux[op.a + 1U]);
    store_pair(c.aux + op.d, sums::pair_of(c, op, sums::drain(c, op, in0, in1)));
}

TESSERA_INLINE void f16v2gina(Context& c, const MicroOperation& op) {
    const std::uint32_t x = c.aux[op.a];
    const float in0 = operand_f16(c, op, static_cast<std::uint16_t>(x));
    const float in1 = operand_f16(c, op, static_cast<std::uint16_t>(x >> 16U));
    c.aux[op.d] = sums::halves_of(c, op, sums::drain(c, op, in0, in1));
}

} // namespace tessera::isa::TESSERA_ENGINE
