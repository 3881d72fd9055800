// SPDX-License-Identifier: MIT
// Aux lane: constants, logic, permutes, FP16 and FP32 arithmetic, conversions.
#pragma once

#include "models/isa/context.h"
#include "models/isa/exec/integer.h"
#include "models/isa/exec/rounding.h"

namespace tessera::isa::TESSERA_ENGINE {

namespace vector {

/// The first source of an instruction on single registers: :BL and :BU repeat one half.
TESSERA_INLINE std::uint32_t first_word(const Context& c, const MicroOperation& op) {
    const std::uint32_t value = c.aux[op.a];
    switch (op.broadcast) {
    case Broadcast::Lower:
        return (value & 0xffffU) * 0x10001U;
    case Broadcast::Upper:
        return (value >> 16U) * 0x10001U;
    default:
        return value;
    }
}

/// The first source of an instruction on pairs: :B repeats the register, :BL and :BU repeat one of
/// its halves.
TESSERA_INLINE std::uint64_t first_pair(const Context& c, const MicroOperation& op) {
    if (op.broadcast == Broadcast::None) {
        return load_pair(c.aux + op.a);
    }
    return first_word(c, op) * 0x100000001ULL;
}

/// Four lanes of binary32 that the compiler keeps in one host register.
using Lanes4 [[gnu::vector_size(16)]] = float;

struct Add {
    template <typename T> static T apply(T x, T y) { return x + y; }
};
struct Sub {
    template <typename T> static T apply(T x, T y) { return x - y; }
};
struct Mul {
    template <typename T> static T apply(T x, T y) { return x * y; }
};
struct Max {
    static float apply(float x, float y) { return select<true>(x, y); }
};
struct Min {
    static float apply(float x, float y) { return select<false>(x, y); }
};

TESSERA_INLINE float flushed(std::uint32_t bits) {
    return as_f32((bits & 0x7f800000U) == 0 ? bits & 0x80000000U : bits);
}

template <typename Operator> TESSERA_INLINE std::uint32_t on_f32(std::uint32_t x, std::uint32_t y) {
    return result_f32(Operator::apply(flushed(x), flushed(y)));
}

template <typename Operator> TESSERA_INLINE void f32(Context& c, const MicroOperation& op) {
    c.aux[op.d] = on_f32<Operator>(c.aux[op.a], c.aux[op.b]);
}

template <typename Operator> TESSERA_INLINE void f32v2(Context& c, const MicroOperation& op) {
    const std::uint64_t x = first_pair(c, op);
    const std::uint64_t y = load_pair(c.aux + op.b);
    const std::uint64_t lo =
        on_f32<Operator>(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
    const std::uint64_t hi = on_f32<Operator>(static_cast<std::uint32_t>(x >> 32U),
                                              static_cast<std::uint32_t>(y >> 32U));
    store_pair(c.aux + op.d, lo | (hi << 32U));
}

template <typename Operator>
TESSERA_INLINE std::uint32_t select_bits_f32(std::uint32_t x, std::uint32_t y) {
    return is_signalling_f32(x) || is_signalling_f32(y) ? kNanF32 : on_f32<Operator>(x, y);
}

template <typename Operator> TESSERA_INLINE void f32_select(Context& c, const MicroOperation& op) {
    c.aux[op.d] = select_bits_f32<Operator>(c.aux[op.a], c.aux[op.b]);
}

template <typename Operator>
TESSERA_INLINE void f32v2_select(Context& c, const MicroOperation& op) {
    const std::uint64_t x = first_pair(c, op);
    const std::uint64_t y = load_pair(c.aux + op.b);
    const std::uint64_t lo =
        select_bits_f32<Operator>(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
    const std::uint64_t hi = select_bits_f32<Operator>(static_cast<std::uint32_t>(x >> 32U),
                                                       static_cast<std::uint32_t>(y >> 32U));
    store_pair(c.aux + op.d, lo | (hi << 32U));
}

/// Arithmetic on four halves: exact in binary32 up to its one rounding, then rounded to FP16 (24 >=
/// 2 * 11 + 2 bits, so the two roundings equal one).
template <typename Operator>
TESSERA_INLINE std::uint64_t arithmetic_f16x4(Context& c, const MicroOperation& op, std::uint64_t x,
                                              std::uint64_t y) {
    float left[4];
    float right[4];
    operands_f16x4(c, op, x, left);
    operands_f16x4(c, op, y, right);
    Lanes4 first;
    Lanes4 second;
    std::memcpy(&first, left, sizeof first);
    std::memcpy(&second, right, sizeof second);
    first = Operator::apply(first, second);
    std::memcpy(left, &first, sizeof first);
    return results_f16x4(c, op, left);
}

/// Comparison-like operations keep infinities.
template <typename Operator>
TESSERA_INLINE std::uint64_t select_f16x4(std::uint64_t x, std::uint64_t y) {
    std::uint64_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const float value = Operator::apply(widen(half_of(x, i)), widen(half_of(y, i)));
        const bool nan =
            value != value || is_signalling_f16(half_of(x, i)) || is_signalling_f16(half_of(y, i));
        const std::uint16_t half = nan ? kNanF16 : f32_to_f16(value);
        result |= static_cast<std::uint64_t>(half) << (16U * i);
    }
    return result;
}

template <typename Operator> TESSERA_INLINE void f16v4(Context& c, const MicroOperation& op) {
    store_pair(c.aux + op.d,
               arithmetic_f16x4<Operator>(c, op, first_pair(c, op), load_pair(c.aux + op.b)));
}

template <typename Operator> TESSERA_INLINE void f16v2(Context& c, const MicroOperation& op) {
    c.aux[op.d] = static_cast<std::uint32_t>(
        arithmetic_f16x4<Operator>(c, op, first_word(c, op), c.aux[op.b]));
}

template <typename Operator>
TESSERA_INLINE void f16v4_select(Context& c, const MicroOperation& op) {
    store_pair(c.aux + op.d, select_f16x4<Operator>(first_pair(c, op), load_pair(c.aux + op.b)));
}

template <typename Operator>
TESSERA_INLINE void f16v2_select(Context& c, const MicroOperation& op) {
    c.aux[op.d] =
        static_cast<std::uint32_t>(select_f16x4<Operator>(first_word(c, op), c.aux[op.b]));
}

} // namespace vector

#define TESSERA_AUX(id, body)                                                                      \
    TESSERA_INLINE void id(Context& c, const MicroOperation& op) {                                 \
        body;                                                                                      \
    }

TESSERA_AUX(f32add, vector::f32<vector::Add>(c, op))
TESSERA_AUX(f32sub, vector::f32<vector::Sub>(c, op))
TESSERA_AUX(f32mul, vector::f32<vector::Mul>(c, op))
TESSERA_AUX(f32max, vector::f32_select<vector::Max>(c, op))
TESSERA_AUX(f32min, vector::f32_select<vector::Min>(c, op))
TESSERA_AUX(f32v2add, vector::f32v2<vector::Add>(c, op))
TESSERA_AUX(f32v2sub, vector::f32v2<vector::Sub>(c, op))
TESSERA_AUX(f32v2mul, vector::f32v2<vector::Mul>(c, op))
TESSERA_AUX(f32v2max, vector::f32v2_select<vector::Max>(c, op))
TESSERA_AUX(f32v2min, vector::f32v2_select<vector::Min>(c, op))
TESSERA_AUX(f16v2add, vector::f16v2<vector::Add>(c, op))
TESSERA_AUX(f16v2sub, vector::f16v2<vector::Sub>(c, op))
TESSERA_AUX(f16v2mul, vector::f16v2<vector::Mul>(c, op))
TESSERA_AUX(f16v2max, vector::f16v2_select<vector::Max>(c, op))
TESSERA_AUX(f16v2min, vector::f16v2_select<vector::Min>(c, op))
TESSERA_AUX(f16v4add, vector::f16v4<vector::Add>(c, op))
TESSERA_AUX(f16v4sub, vector::f16v4<vector::Sub>(c, op))
TESSERA_AUX(f16v4mul, vector::f16v4<vector::Mul>(c, op))
TESSERA_AUX(f16v4max, vector::f16v4_select<vector::Max>(c, op))
TESSERA_AUX(f16v4min, vector::f16v4_select<vector::Min>(c, op))

TESSERA_AUX(setzi_a, c.aux[op.d] = static_cast<std::uint32_t>(op.imm))
TESSERA_AUX(or_a_u, c.aux[op.d] = c.aux[op.a] | static_cast<std::uint32_t>(op.imm))
TESSERA_AUX(or_a_t, c.aux[op.d] = c.aux[op.a] | static_cast<std::uint32_t>(op.imm))
TESSERA_AUX(and_a_u, c.aux[op.d] = c.aux[op.a] & static_cast<std::uint32_t>(op.imm))
TESSERA_AUX(and_a_t, c.aux[op.d] = c.aux[op.a] & static_cast<std::uint32_t>(op.imm))
TESSERA_AUX(andc_a_u, c.aux[op.d] = c.aux[op.a] & ~static_cast<std::uint32_t>(op.imm))
TESSERA_AUX(andc_a_t, c.aux[op.d] = c.aux[op.a] & ~static_cast<std::uint32_t>(op.imm))
TESSERA_AUX(and_a, c.aux[op.d] = c.aux[op.a] & c.aux[op.b])
TESSERA_AUX(or_a, c.aux[op.d] = c.aux[op.a] | c.aux[op.b])
TESSERA_AUX(andc_a, c.aux[op.d] = c.aux[op.a] & ~c.aux[op.b])
TESSERA_AUX(not_a, c.aux[op.d] = ~c.aux[op.a])
TESSERA_AUX(and64, store_pair(c.aux + op.d, load_pair(c.aux + op.a) & load_pair(c.aux + op.b)))
TESSERA_AUX(or64, store_pair(c.aux + op.d, load_pair(c.aux + op.a) | load_pair(c.aux + op.b)))
TESSERA_AUX(andc64, store_pair(c.aux + op.d, load_pair(c.aux + op.a) & ~load_pair(c.aux + op.b)))
TESSERA_AUX(not64, store_pair(c.aux + op.d, ~load_pair(c.aux + op.a)))

TESSERA_AUX(sort4x16lo_a, c.aux[op.d] = integer::sort4x16lo(vector::first_word(c, op), c.aux[op.b]))
TESSERA_AUX(sort4x16hi_a, c.aux[op.d] = integer::sort4x16hi(vector::first_word(c, op), c.aux[op.b]))
TESSERA_AUX(roll16_a, c.aux[op.d] = integer::roll16(c.aux[op.a], c.aux[op.b]))

TESSERA_INLINE void sort4x32lo(Context& c, const MicroOperation& op) {
    store_pair(c.aux + op.d, c.aux[op.a] | (static_cast<std::uint64_t>(c.aux[op.b]) << 32U));
}
TESSERA_INLINE void sort4x32hi(Context& c, const MicroOperation& op) {
    store_pair(c.aux + op.d,
               c.aux[op.a + 1U] | (static_cast<std::uint64_t>(c.aux[op.b + 1U]) << 32U));
}
TESSERA_INLINE void roll32(Context& c, const MicroOperation& op) {
    store_pair(c.aux + op.d, c.aux[op.a + 1U] | (static_cast<std::uint64_t>(c.aux[op.b]) << 32U));
}

// ---- conversions: an infinite half keeps its value when it is widened
namespace vector {

TESSERA_INLINE std::uint32_t widened(std::uint16_t half) {
    const float value = widen(half);
    return value != value ? kNanF32 : as_bits(value);
}

} // namespace vector

TESSERA_AUX(f16tof32, c.aux[op.d] = vector::widened(static_cast<std::uint16_t>(c.aux[op.a])))
TESSERA_AUX(f32tof16,
            c.aux[op.d] = results_f16x2(c, op, vector::flushed(c.aux[op.a]), 0.0F) * 0x10001U)
TESSERA_AUX(f32v2tof16, c.aux[op.d] = results_f16x2(c, op, vector::flushed(c.aux[op.a]),
                                                    vector::flushed(c.aux[op.a + 1U])))

TESSERA_INLINE void f16v2tof32(Context& c, const MicroOperation& op) {
    const std::uint32_t x = c.aux[op.a];
    const std::uint64_t lo = vector::widened(static_cast<std::uint16_t>(x));
    const std::uint64_t hi = vector::widened(static_cast<std::uint16_t>(x >> 16U));
    store_pair(c.aux + op.d, lo | (hi << 32U));
}

TESSERA_INLINE void f32v4tof16(Context& c, const MicroOperation& op) {
    float values[4];
    for (unsigned i = 0; i < 4; ++i) {
        values[i] = vector::flushed(c.aux[op.a + i]);
    }
    store_pair(c.aux + op.d, results_f16x4(c, op, values));
}

} // namespace tessera::isa::TESSERA_ENGINE
