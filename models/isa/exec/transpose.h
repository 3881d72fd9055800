// SPDX-License-Identifier: MIT
// Aux lane: the accumulators as a transpose network for halves. Bits move as they are, without
// conversion.
// Source: docs/evidence.md#instruction-set (accumulators)
#pragma once

#include "models/isa/context.h"
#include "models/isa/exec/numbers.h"

namespace tessera::isa::TESSERA_ENGINE {

/// Half j of both inputs becomes one word of even[2 j + phase]; two words leave from the odd bank.
TESSERA_INLINE void f16v4istacc(Context& c, const MicroOperation& op) {
    float* odd = c.accumulators.odd;
    const auto phase = static_cast<unsigned>(op.imm) & 1U;
    const std::uint64_t low = load_pair(c.aux + op.a);
    const std::uint64_t high = load_pair(c.aux + op.b);
    std::uint64_t out = 0;
    std::memcpy(&out, odd, 8);
    if (phase == 0) {
        std::memcpy(odd, odd + 2, 8);
    }
    for (unsigned j = 0; j < 4; ++j) {
        const std::uint32_t word =
            half_of(low, j) | (static_cast<std::uint32_t>(half_of(high, j)) << 16U);
        std::memcpy(c.accumulators.even + 2U * j + phase, &word, 4);
    }
    store_pair(c.aux + op.d, out);
}

/// Phase 0 takes two words from the even bank and moves the others into the odd one; phase 1 takes
/// two from that.
TESSERA_INLINE void f16v4stacc(Context& c, const MicroOperation& op) {
    Accumulators& acc = c.accumulators;
    std::uint64_t out = 0;
    if ((static_cast<unsigned>(op.imm) & 1U) == 0) {
        std::memcpy(&out, acc.even, 8);
        std::memcpy(acc.odd, acc.even + 2, 6 * sizeof(float));
    } else {
        std::memcpy(&out, acc.odd, 8);
        std::memmove(acc.odd, acc.odd + 2, 4 * sizeof(float));
    }
    store_pair(c.aux + op.d, out);
}

} // namespace tessera::isa::TESSERA_ENGINE
