// SPDX-License-Identifier: MIT
// Main lane: 32-bit integer arithmetic, logic and permutes, without flags.
#pragma once

#include "models/isa/context.h"
#include "models/isa/exec/numbers.h"

#include <bit>

namespace tessera::isa::TESSERA_ENGINE {

namespace integer {

TESSERA_INLINE std::int32_t as_signed(std::uint32_t value) {
    return static_cast<std::int32_t>(value);
}

TESSERA_INLINE std::uint32_t shift_right_arithmetic(std::uint32_t value, std::uint32_t amount) {
    return static_cast<std::uint32_t>(as_signed(value) >> (amount & 31U));
}

TESSERA_INLINE std::uint32_t smaller(std::uint32_t x, std::uint32_t y) {
    return as_signed(x) < as_signed(y) ? x : y;
}

TESSERA_INLINE std::uint32_t larger(std::uint32_t x, std::uint32_t y) {
    return as_signed(x) > as_signed(y) ? x : y;
}

TESSERA_INLINE std::uint32_t byte_of(std::uint32_t value, unsigned index) {
    return (value >> (8U * index)) & 0xffU;
}

TESSERA_INLINE std::uint32_t bytes(std::uint32_t b0, std::uint32_t b1, std::uint32_t b2,
                                   std::uint32_t b3) {
    return b0 | (b1 << 8U) | (b2 << 16U) | (b3 << 24U);
}

TESSERA_INLINE std::uint32_t roll16(std::uint32_t x, std::uint32_t y) {
    return (x >> 16U) | (y << 16U);
}

TESSERA_INLINE std::uint32_t sort4x16lo(std::uint32_t x, std::uint32_t y) {
    return (x & 0xffffU) | (y << 16U);
}

TESSERA_INLINE std::uint32_t sort4x16hi(std::uint32_t x, std::uint32_t y) {
    return (x >> 16U) | (y & 0xffff0000U);
}

} // namespace integer

// Three registers, and the same with a constant as the second source.
#define TESSERA_INTEGER(id, expression)                                                            \
    TESSERA_INLINE void id(Context& c, const MicroOperation& op) {                                 \
        const std::uint32_t x = c.main[op.a];                                                      \
        const std::uint32_t y = c.main[op.b];                                                      \
        c.main[op.d] = (expression);                                                               \
    }
#define TESSERA_INTEGER_CONSTANT(id, expression)                                                   \
    TESSERA_INLINE void id(Context& c, const MicroOperation& op) {                                 \
        const std::uint32_t x = c.main[op.a];                                                      \
        const auto y = static_cast<std::uint32_t>(op.imm);                                         \
        c.main[op.d] = (expression);                                                               \
    }
#define TESSERA_INTEGER_UNARY(id, expression)                                                      \
    TESSERA_INLINE void id(Context& c, const MicroOperation& op) {                                 \
        const std::uint32_t x = c.main[op.a];                                                      \
        c.main[op.d] = static_cast<std::uint32_t>(expression);                                     \
    }

TESSERA_INTEGER(and_rr, x& y)
TESSERA_INTEGER(or_rr, x | y)
TESSERA_INTEGER(xor_rr, x ^ y)
TESSERA_INTEGER(xnor_rr, ~(x ^ y))
TESSERA_INTEGER(andc_rr, x & ~y)
TESSERA_INTEGER(add_rr, x + y)
TESSERA_INTEGER(sub_rr, x - y)
TESSERA_INTEGER(mul_rr, x* y)
TESSERA_INTEGER(cmpeq_rr, x == y ? 1U : 0U)
TESSERA_INTEGER(cmpne_rr, x != y ? 1U : 0U)
TESSERA_INTEGER(shl_rr, x << (y & 31U))
TESSERA_INTEGER(shr_rr, x >> (y & 31U))
TESSERA_INTEGER(shrs_rr, integer::shift_right_arithmetic(x, y))
TESSERA_INTEGER(cmpslt_rr, integer::as_signed(x) < integer::as_signed(y) ? 1U : 0U)
TESSERA_INTEGER(cmpult_rr, x < y ? 1U : 0U)
TESSERA_INTEGER(min_rr, integer::smaller(x, y))
TESSERA_INTEGER(max_rr, integer::larger(x, y))
TESSERA_INTEGER(movnz, x != 0 ? y : c.main[op.d])
TESSERA_INTEGER(roll16_m, integer::roll16(x, y))
TESSERA_INTEGER(sort4x16lo_m, integer::sort4x16lo(x, y))
TESSERA_INTEGER(sort4x16hi_m, integer::sort4x16hi(x, y))
TESSERA_INTEGER(shuf8x8lo_m, integer::bytes(integer::byte_of(x, 0), integer::byte_of(y, 0),
                                            integer::byte_of(x, 1), integer::byte_of(y, 1)))
TESSERA_INTEGER(shuf8x8hi_m, integer::bytes(integer::byte_of(x, 2), integer::byte_of(y, 2),
                                            integer::byte_of(x, 3), integer::byte_of(y, 3)))
TESSERA_INTEGER(sort8x8lo_m, integer::bytes(integer::byte_of(x, 0), integer::byte_of(x, 2),
                                            integer::byte_of(y, 0), integer::byte_of(y, 2)))
TESSERA_INTEGER(sort8x8hi_m, integer::bytes(integer::byte_of(x, 1), integer::byte_of(x, 3),
                                            integer::byte_of(y, 1), integer::byte_of(y, 3)))
TESSERA_INTEGER(roll8r_m, (x >> 8U) | (y << 24U))
TESSERA_INTEGER(roll8l_m, (y << 8U) | (x >> 24U))

TESSERA_INTEGER_CONSTANT(add_z, x + y)
TESSERA_INTEGER_CONSTANT(add_s, x + y)
TESSERA_INTEGER_CONSTANT(sub_z, y - x)
TESSERA_INTEGER_CONSTANT(sub_s, y - x)
TESSERA_INTEGER_CONSTANT(cmpeq_z, x == y ? 1U : 0U)
TESSERA_INTEGER_CONSTANT(cmpeq_s, x == y ? 1U : 0U)
TESSERA_INTEGER_CONSTANT(min_z, integer::smaller(x, y))
TESSERA_INTEGER_CONSTANT(min_s, integer::smaller(x, y))
TESSERA_INTEGER_CONSTANT(max_z, integer::larger(x, y))
TESSERA_INTEGER_CONSTANT(max_s, integer::larger(x, y))
TESSERA_INTEGER_CONSTANT(cmpult_z, x < y ? 1U : 0U)
TESSERA_INTEGER_CONSTANT(cmpslt_s, integer::as_signed(x) < integer::as_signed(y) ? 1U : 0U)
TESSERA_INTEGER_CONSTANT(mul_s, x* y)
TESSERA_INTEGER_CONSTANT(and_u, x& y)
TESSERA_INTEGER_CONSTANT(andc_u, x & ~y)
TESSERA_INTEGER_CONSTANT(or_u, x | y)
TESSERA_INTEGER_CONSTANT(or_t, x | y)
TESSERA_INTEGER_CONSTANT(shl_u, x << (y & 31U))
TESSERA_INTEGER_CONSTANT(shr_u, x >> (y & 31U))
TESSERA_INTEGER_CONSTANT(shrs_u, integer::shift_right_arithmetic(x, y))

TESSERA_INTEGER_UNARY(abs_m, integer::as_signed(x) < 0 ? 0U - x : x)
TESSERA_INTEGER_UNARY(clz_m, std::countl_zero(x))
TESSERA_INTEGER_UNARY(cms_m, std::countl_zero(integer::as_signed(x) < 0 ? ~x : x) - 1)
TESSERA_INTEGER_UNARY(popc_m, std::popcount(x))
TESSERA_INTEGER_UNARY(swap8_m, ((x & 0x00ff00ffU) << 8U) | ((x >> 8U) & 0x00ff00ffU))
TESSERA_INTEGER_UNARY(sort8_m, integer::bytes(integer::byte_of(x, 0), integer::byte_of(x, 2),
                                              integer::byte_of(x, 1), integer::byte_of(x, 3)))

TESSERA_INLINE void bitrev8_m(Context& c, const MicroOperation& op) {
    std::uint32_t x = c.main[op.a];
    x = ((x & 0x0f0f0f0fU) << 4U) | ((x >> 4U) & 0x0f0f0f0fU);
    x = ((x & 0x33333333U) << 2U) | ((x >> 2U) & 0x33333333U);
    c.main[op.d] = ((x & 0x55555555U) << 1U) | ((x >> 1U) & 0x55555555U);
}

#undef TESSERA_INTEGER
#undef TESSERA_INTEGER_CONSTANT
#undef TESSERA_INTEGER_UNARY

TESSERA_INLINE void setzi_m(Context& c, const MicroOperation& op) {
    c.main[op.d] = static_cast<std::uint32_t>(op.imm);
}

TESSERA_INLINE void atom(Context& c, const MicroOperation& op) {
    c.main[op.d] = c.aux[op.a];
}

/// Three 21-bit addresses in a register pair: the third one's low 11 bits above the first, the
/// others above the second.
TESSERA_INLINE void tapack(Context& c, const MicroOperation& op) {
    constexpr std::uint32_t kMask = 0x1fffffU;
    const std::uint32_t a0 = c.main[op.a] & kMask;
    const std::uint32_t a1 = c.main[op.b] & kMask;
    const std::uint32_t a2 = c.main[op.c] & kMask;
    c.main[op.d] = a0 | (a2 << 21U);
    c.main[op.d + 1U] = a1 | ((a2 >> 11U) << 21U);
}

} // namespace tessera::isa::TESSERA_ENGINE
