// SPDX-License-Identifier: MIT
#include "kernels/elementwise/draws.h"

#include <array>
#include <bit>

namespace tessera::elementwise {
namespace {

/// From seed 0 to a key that is not 0.
constexpr std::uint32_t kFirstKey = 0x9e3779b9;
constexpr Bytes kMaskBytes = 8; ///< of one instruction

std::uint32_t hash(std::uint32_t number) {
    number ^= number >> 16U;
    number *= Draws::kMix1;
    number ^= number >> 15U;
    number *= Draws::kMix2;
    return number ^ number >> 16U;
}

/// Two steps of the generator: what the first of them gives.
std::uint64_t draw(std::array<std::uint64_t, 2>& state) {
    const auto step = [&] {
        const std::uint64_t x = state[0] ^ state[1];
        const std::uint64_t both = state[0] & state[1];
        state = {std::rotl(state[0], 55) ^ x ^ x << 14U, std::rotl(x, 36)};
        return x ^ (std::rotl(both, 1) | std::rotl(both, 2));
    };
    const std::uint64_t first = step();
    step();
    return first;
}

std::uint64_t pair(std::uint32_t low, std::uint32_t high) {
    return low | static_cast<std::uint64_t>(high) << 32U;
}

} // namespace

std::uint32_t Draws::key() const {
    return hash(seed + kFirstKey);
}

bool Draws::keeps(std::int64_t element, std::uint32_t step) const {
    const auto block = static_cast<std::uint32_t>(element / elements_of_block());
    const std::uint32_t low = hash(key() + block + step * kMix1);
    const std::uint32_t mixed = low * kMix1;
    std::array<std::uint64_t, 2> state{pair(low, mixed ^ mixed >> 15U), pair(seed, step)};
    const std::int64_t of_mask = kMaskBytes / bytes_of(type);
    const std::int64_t in_block = element % elements_of_block();
    for (std::int64_t mask = 0; mask < in_block / of_mask; ++mask) {
        draw(state);
    }
    const std::uint64_t bits = draw(state) >> static_cast<unsigned>(16 * (in_block % of_mask));
    return keep >= kAll || (bits & 0xffffU) < keep;
}

} // namespace tessera::elementwise
