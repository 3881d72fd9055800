// SPDX-License-Identifier: MIT
// Three addresses of 21 bits packed into a pair of main registers (tapack).
#pragma once

#include <cstdint>

namespace tessera::isa {

struct AddressTriple {
    std::uint32_t a0;
    std::uint32_t a1;
    std::uint32_t a2;

    [[gnu::always_inline]] static AddressTriple unpack(const std::uint32_t* pair) {
        const std::uint32_t lo = pair[0];
        const std::uint32_t hi = pair[1];
        return {lo & 0x1fffffU, hi & 0x1fffffU, (lo >> 21U) | (((hi >> 21U) & 0x3ffU) << 11U)};
    }
    [[gnu::always_inline]] void pack(std::uint32_t* pair) const {
        pair[0] = (a0 & 0x1fffffU) | (a2 << 21U);
        pair[1] = (a1 & 0x1fffffU) | (((a2 >> 11U) & 0x3ffU) << 21U);
    }
};

} // namespace tessera::isa
