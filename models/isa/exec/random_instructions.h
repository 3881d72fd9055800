// SPDX-License-Identifier: MIT
// Aux lane: random bits, random numbers of nearly normal distribution, random masks. Each takes two
// steps of the generator, whatever it returns. Source: docs/evidence.md#instruction-set (PRNG)
#pragma once

#include "models/isa/exec/random.h"
#include "models/isa/exec/vector.h"

namespace tessera::isa::TESSERA_ENGINE {

namespace random_numbers {

/// Twelve 5-bit numbers added and centred, in units of their standard deviation, nearly: exact in
/// FP16.
inline float normal(std::uint64_t random) {
    int sum = 0;
    for (unsigned k = 0; k < 12; ++k) {
        sum += static_cast<int>((random >> (5U * k)) & 31U);
    }
    return static_cast<float>(sum - 186) * 0x1p-5F;
}

/// Keeps each element of the word with probability p[15:0] / 2^16, all of them where bit 16 of p is
/// set.
template <unsigned kElementBits>
TESSERA_INLINE std::uint64_t mask(Context& c, std::uint64_t elements, std::uint32_t p) {
    const std::uint64_t random = draw(c).r0;
    if ((p & 0x10000U) != 0) {
        return elements;
    }
    constexpr std::uint64_t kOnes = kElementBits == 16 ? 0xffffU : 0xffffffffU;
    std::uint64_t kept = 0;
    for (unsigned i = 0; i < 64 / kElementBits; ++i) {
        if (((random >> (16U * i)) & 0xffffU) < (p & 0xffffU)) {
            kept |= kOnes << (kElementBits * i);
        }
    }
    return elements & kept;
}

} // namespace random_numbers

TESSERA_AUX(urand32, c.aux[op.d] = static_cast<std::uint32_t>(random_numbers::draw(c).r0))
TESSERA_AUX(urand64, store_pair(c.aux + op.d, random_numbers::draw(c).r0))

TESSERA_INLINE void f32v2grand(Context& c, const MicroOperation& op) {
    const random_numbers::Draw random = random_numbers::draw(c);
    const std::uint64_t hi = as_bits(random_numbers::normal(random.r1));
    store_pair(c.aux + op.d, as_bits(random_numbers::normal(random.r0)) | (hi << 32U));
}

/// Which bits make which half is not published (docs/deviations.md, random-fields): as in
/// f32v2grand.
TESSERA_INLINE void f16v2grand(Context& c, const MicroOperation& op) {
    const random_numbers::Draw random = random_numbers::draw(c);
    const std::uint32_t lo = f32_to_f16(random_numbers::normal(random.r0));
    const std::uint32_t hi = f32_to_f16(random_numbers::normal(random.r1));
    c.aux[op.d] = lo | (hi << 16U);
}

TESSERA_AUX(f16v4rmask,
            store_pair(c.aux + op.d,
                       random_numbers::mask<16>(c, load_pair(c.aux + op.a), c.aux[op.b])))
TESSERA_AUX(f32v2rmask,
            store_pair(c.aux + op.d,
                       random_numbers::mask<32>(c, load_pair(c.aux + op.a), c.aux[op.b])))

} // namespace tessera::isa::TESSERA_ENGINE
