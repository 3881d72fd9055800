// SPDX-License-Identifier: MIT
// Draws from a list.
#pragma once

#include "kernels/workload/pattern.h"
#include "kernels/workload/random.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::pattern {

/// `wanted` of the numbers, in their order; every set is equally likely. A function of seed and
/// stream.
[[nodiscard]] inline std::vector<std::int64_t> drawn(const std::vector<std::int64_t>& numbers,
                                                     std::int64_t wanted, std::uint64_t seed,
                                                     std::uint64_t stream) {
    const std::uint64_t own = workload::CounterRandom(seed, stream).bits(0);
    std::vector<std::int64_t> places =
        workload::uniform_blocks({1, static_cast<std::int64_t>(numbers.size())}, wanted, own);
    for (std::int64_t& place : places) {
        place = numbers[static_cast<std::size_t>(place)];
    }
    return places;
}

} // namespace tessera::pattern
