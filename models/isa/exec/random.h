// SPDX-License-Identifier: MIT
// The random number generator of a worker: xoroshiro128 with the "aox" output function. An
// instruction that uses it takes two steps, however many bits it needs. Source:
// docs/evidence.md#instruction-set (PRNG), arXiv 2203.04058
#pragma once

#include "models/isa/context.h"

#include <bit>

namespace tessera::isa::TESSERA_ENGINE {

namespace random_numbers {

struct Draw {
    std::uint64_t r0;
    std::uint64_t r1;
};

inline std::uint64_t step(std::array<std::uint64_t, 2>& state) {
    const std::uint64_t s0 = state[0];
    const std::uint64_t x = s0 ^ state[1];
    const std::uint64_t both = s0 & state[1];
    state[0] = std::rotl(s0, 55) ^ x ^ (x << 14U);
    state[1] = std::rotl(x, 36);
    return x ^ (std::rotl(both, 1) | std::rotl(both, 2));
}

inline Draw draw(Context& c) {
    const std::uint64_t r0 = step(c.random);
    return {r0, step(c.random)};
}

} // namespace random_numbers

} // namespace tessera::isa::TESSERA_ENGINE
