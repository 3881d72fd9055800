// SPDX-License-Identifier: MIT
// A counter-based random generator: the n-th number is a pure function of (seed, stream, n), so
// that values do not depend on the order or the threads in which they are drawn.
#pragma once

#include <cstdint>

namespace tessera::workload {

/// SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators",
/// OOPSLA 2014) read as a function of its counter.
class CounterRandom {
public:
    constexpr CounterRandom(std::uint64_t seed, std::uint64_t stream)
        : key_(mixed(mixed(seed + kGolden) ^ (stream * kStreamOdd))) {}

    /// 64 uniform bits.
    [[nodiscard]] constexpr std::uint64_t bits(std::uint64_t index) const {
        return mixed(key_ + (index + 1) * kGolden);
    }

    /// Uniform in 0 .. bound-1 up to a bias of bound / 2^64; bound > 0.
    [[nodiscard]] constexpr std::uint64_t below(std::uint64_t bound, std::uint64_t index) const {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint64_t>((Wide{bits(index)} * bound) >> 64U);
    }

private:
    static constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15U;
    static constexpr std::uint64_t kStreamOdd = 0xd1342543de82ef95U;

    [[nodiscard]] static constexpr std::uint64_t mixed(std::uint64_t z) {
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }

    std::uint64_t key_;
};

} // namespace tessera::workload
