// SPDX-License-Identifier: MIT
// Aux lane: constants, logic, permutes, FP16 and FP32 arithmetic.
#pragma once

#include "models/isa/context.h"
#include "models/isa/exec/integer.h"
#include "models/isa/exec/rounding.h"
#include "models/isa/exec/single.h"

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
/// |x| + |y|: an addition whose operands lose their signs.
struct AbsAdd {
    template <typename T> static T apply(T x, T y) { return x + y; }
};

/// Whether the operation sees its operands' signs.
template <typename Operator> inline constexpr bool kSigned = true;
template <> inline constexpr bool kSigned<AbsAdd> = false;

template <typename Operator>
TESSERA_INLINE std::uint32_t on_f32(Context& c, const MicroOperation& op, std::uint32_t x,
                                    std::uint32_t y) {
    if constexpr (!kSigned<Operator>) {
        x &= 0x7fffffffU;
        y &= 0x7fffffffU;
    }
    return checked_f32(c, op, Operator::apply(flushed(x), flushed(y)), x, y);
}

template <typename Operator> TESSERA_INLINE void f32(Context& c, const MicroOperation& op) {
    c.aux[op.d] = on_f32<Operator>(c, op, c.aux[op.a], c.aux[op.b]);
}

template <typename Operator> TESSERA_INLINE void f32v2(Context& c, const MicroOperation& op) {
    const std::uint64_t x = first_pair(c, op);
    const std::uint64_t y = load_pair(c.aux + op.b);
    const std::uint64_t lo =
        on_f32<Operator>(c, op, static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
    const std::uint64_t hi = on_f32<Operator>(c, op, static_cast<std::uint32_t>(x >> 32U),
                                              static_cast<std::uint32_t>(y >> 32U));
    store_pair(c.aux + op.d, lo | (hi << 32U));
}

/// Arithmetic on four halves: exact in binary32 up to its one rounding, then rounded to FP16 (24 >=
/// 2 * 11 + 2 bits, so the two roundings equal one).
template <typename Operator>
TESSERA_INLINE std::uint64_t arithmetic_f16x4(Context& c, const MicroOperation& op, std::uint64_t x,
                                              std::uint64_t y) {
    if constexpr (!kSigned<Operator>) {
        x &= 0x7fff7fff7fff7fffULL;
        y &= 0x7fff7fff7fff7fffULL;
    }
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

template <typename Operator> TESSERA_INLINE void f16v4(Context& c, const MicroOperation& op) {
    store_pair(c.aux + op.d,
               arithmetic_f16x4<Operator>(c, op, first_pair(c, op), load_pair(c.aux + op.b)));
}

template <typename Operator> TESSERA_INLINE void f16v2(Context& c, const MicroOperation& op) {
    c.aux[op.d] = static_cast<std::uint32_t>(
        arithmetic_f16x4<Operator>(c, op, first_word(c, op), c.aux[op.b]));
}

/// The sum of two halves, exact or rounded once to FP32.
TESSERA_INLINE std::uint32_t sum_f16(Context& c, const MicroOperation& op, std::uint32_t halves) {
    const float sum = operand_f16(c, op, static_cast<std::uint16_t>(halves)) +
                      operand_f16(c, op, static_cast<std::uint16_t>(halves >> 16U));
    return sum != sum ? kNanF32 : as_bits(sum);
}

} // namespace vector

#define TESSERA_AUX(id, body)                                                                      \
    TESSERA_INLINE void id(Context& c, const MicroOperation& op) {                                 \
        body;                                                                                      \
    }

TESSERA_AUX(f32add, vector::f32<vector::Add>(c, op))
TESSERA_AUX(f32sub, vector::f32<vector::Sub>(c, op))
TESSERA_AUX(f32mul, vector::f32<vector::Mul>(c, op))
TESSERA_AUX(f32absadd, vector::f32<vector::AbsAdd>(c, op))
TESSERA_AUX(f32v2add, vector::f32v2<vector::Add>(c, op))
TESSERA_AUX(f32v2sub, vector::f32v2<vector::Sub>(c, op))
TESSERA_AUX(f32v2mul, vector::f32v2<vector::Mul>(c, op))
TESSERA_AUX(f32v2absadd, vector::f32v2<vector::AbsAdd>(c, op))
TESSERA_AUX(f16v2add, vector::f16v2<vector::Add>(c, op))
TESSERA_AUX(f16v2sub, vector::f16v2<vector::Sub>(c, op))
TESSERA_AUX(f16v2mul, vector::f16v2<vector::Mul>(c, op))
TESSERA_AUX(f16v2absadd, vector::f16v2<vector::AbsAdd>(c, op))
TESSERA_AUX(f16v4add, vector::f16v4<vector::Add>(c, op))
TESSERA_AUX(f16v4sub, vector::f16v4<vector::Sub>(c, op))
TESSERA_AUX(f16v4mul, vector::f16v4<vector::Mul>(c, op))
TESSERA_AUX(f16v4absadd, vector::f16v4<vector::AbsAdd>(c, op))
TESSERA_AUX(f16v2sum, c.aux[op.d] = vector::sum_f16(c, op, c.aux[op.a]))

TESSERA_INLINE void f16v4sum(Context& c, const MicroOperation& op) {
    const std::uint64_t lo = vector::sum_f16(c, op, c.aux[op.a]);
    const std::uint64_t hi = vector::sum_f16(c, op, c.aux[op.a + 1U]);
    store_pair(c.aux + op.d, lo | (hi << 32U));
}

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

} // namespace tessera::isa::TESSERA_ENGINE
