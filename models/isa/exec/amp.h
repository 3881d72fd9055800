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
#include "models/isa/exec/vector.h"

#include <algorithm>
#include <utility>

namespace tessera::isa::TESSERA_ENGINE {

namespace amp {

/// Widens the weight registers.
[[gnu::noinline]] inline void refresh(WeightStore& weights) {
    for (unsigned unit = 0; unit < 16; ++unit) {
        for (unsigned n = 0; n < 4; ++n) {
            for (unsigned k = 0; k < 4; ++k) {
                const std::uint16_t half = half_of(weights.registers[unit * 4 + n], k);
                weights.lanes[n][k][unit] =
                    (half & 0x7c00U) == 0x7c00U ? as_f32(kNanF32) : widen(half);
            }
        }
    }
    weights.lanes_stale = false;
    weights.channels_made = 0;
}

/// The FP16 lanes of the weight store as operands.
TESSERA_INLINE const WeightStore& fresh(WeightStore& weights) {
    if (weights.lanes_stale) [[unlikely]] {
        refresh(weights);
    }
    return weights;
}

/// TAMP_ flags: engines - 1 in bits 5:4, the phase in bits 3:0.
struct Flag {
    unsigned units;
    unsigned phase;
    explicit Flag(std::int32_t imm)
        : units(2U * ((static_cast<unsigned>(imm) >> 4U) + 1U)),
          phase(static_cast<unsigned>(imm) & 15U) {}
};

TESSERA_INLINE void swap_banks(Accumulators& acc, unsigned set, unsigned units) {
    float* even = acc.even + 8U * set;
    float* odd = acc.odd + 8U * set;
    std::swap_ranges(even, even + units, odd);
}

/// Two results leave (as a word of two FP32), the shift register moves by two, two partials enter.
TESSERA_INLINE void shift(Accumulators& acc, unsigned set, unsigned units, const float* partials,
                          std::uint64_t& result) {
    float* odd = acc.odd + 8U * set;
    std::memcpy(&result, odd, 8);
    for (unsigned u = 0; u + 2 < units; ++u) {
        odd[u] = odd[u + 2];
    }
    odd[units - 2] = partials[0];
    odd[units - 1] = partials[1];
}

TESSERA_INLINE void multiply(Context& c, unsigned set, unsigned units, unsigned phase,
                             std::uint64_t x, const MicroOperation& op) {
    float lanes[4];
    operands_f16x4(c, op, x, lanes);
    const F32x8 input[4] = {F32x8::broadcast(lanes[0]), F32x8::broadcast(lanes[1]),
                            F32x8::broadcast(lanes[2]), F32x8::broadcast(lanes[3])};
    const WeightStore& weights = fresh(*c.weights);
    float* even = c.accumulators.even + 8U * set;
    alignas(32) float sums[8];
    matrix_step(F32x8::load(even), input, &weights.lanes[phase & 3U][0][8U * set], 16).store(sums);
    std::copy_n(sums, units, even);
}

/// A step of all eight units of a set, the usual case.
TESSERA_INLINE void step_of_eight(Context& c, unsigned set, unsigned phase, const F32x8 (&input)[4],
                                  const float* partials, std::uint64_t& result) {
    float* even = c.accumulators.even + 8U * set;
    float* odd = c.accumulators.odd + 8U * set;
    F32x8 sums = F32x8::load(even);
    F32x8 moving = F32x8::load(odd);
    if (phase == 0) {
        std::swap(sums, moving);
        moving.store(odd);
    }
    std::memcpy(&result, odd, 8);
    moving.shifted_in(partials).store(odd);
    matrix_step(sums, input, &c.weights->lanes[phase & 3U][0][8U * set], 16).store(even);
}

template <unsigned kSets>
TESSERA_INLINE void step(Context& c, const MicroOperation& op, const float* partials,
                         std::uint64_t* results) {
    const Flag flag(op.imm);
    const std::uint64_t x = load_pair(c.aux + op.a);
    if (flag.units != 8) [[unlikely]] {
        for (unsigned set = 0; set < kSets; ++set) {
            if (flag.phase == 0) {
                swap_banks(c.accumulators, set, flag.units);
            }
            shift(c.accumulators, set, flag.units, partials + 2U * set, results[set]);
            multiply(c, set, flag.units, flag.phase, x, op);
        }
        return;
    }
    fresh(*c.weights);
    float lanes[4];
    operands_f16x4(c, op, x, lanes);
    const F32x8 input[4] = {F32x8::broadcast(lanes[0]), F32x8::broadcast(lanes[1]),
                            F32x8::broadcast(lanes[2]), F32x8::broadcast(lanes[3])};
    for (unsigned set = 0; set < kSets; ++set) {
        step_of_eight(c, set, flag.phase, input, partials + 2U * set, results[set]);
    }
}

} // namespace amp

namespace amp {

TESSERA_INLINE float first_of(std::uint64_t pair) {
    return as_f32(static_cast<std::uint32_t>(pair));
}
TESSERA_INLINE float second_of(std::uint64_t pair) {
    return as_f32(static_cast<std::uint32_t>(pair >> 32U));
}
TESSERA_INLINE std::uint32_t halves_of(Context& c, const MicroOperation& op, std::uint64_t pair) {
    return results_f16x2(c, op, first_of(pair), second_of(pair));
}

} // namespace amp

/// Both sets, FP16 partials and results.
TESSERA_INLINE void f16v4hihov4amp(Context& c, const MicroOperation& op) {
    float partials[4];
    std::uint64_t results[2];
    operands_f16x4(c, op, load_pair(c.aux + op.b), partials);
    amp::step<2>(c, op, partials, results);
    store_pair(c.aux + op.d, results_f16x4(c, op, results[0], results[1]));
}

/// One set, FP32 partials and results.
TESSERA_INLINE void f16v4sisoamp(Context& c, const MicroOperation& op) {
    const float partials[2] = {vector::flushed(c.aux[op.b]), vector::flushed(c.aux[op.b + 1U])};
    std::uint64_t result = 0;
    amp::step<1>(c, op, partials, &result);
    store_pair(c.aux + op.d,
               result_f32(amp::first_of(result)) |
                   (static_cast<std::uint64_t>(result_f32(amp::second_of(result))) << 32U));
}

/// One set, FP16 partials and results.
TESSERA_INLINE void f16v4hihoamp(Context& c, const MicroOperation& op) {
    const std::uint32_t p = c.aux[op.b];
    const float partials[2] = {operand_f16(c, op, static_cast<std::uint16_t>(p)),
                               operand_f16(c, op, static_cast<std::uint16_t>(p >> 16U))};
    std::uint64_t result = 0;
    amp::step<1>(c, op, partials, &result);
    c.aux[op.d] = amp::halves_of(c, op, result);
}

/// One set, FP32 partials in, FP16 results.
TESSERA_INLINE void f16v4sihoamp(Context& c, const MicroOperation& op) {
    const float partials[2] = {vector::flushed(c.aux[op.b]), vector::flushed(c.aux[op.b + 1U])};
    std::uint64_t result = 0;
    amp::step<1>(c, op, partials, &result);
    c.aux[op.d] = amp::halves_of(c, op, result);
}

} // namespace tessera::isa::TESSERA_ENGINE
