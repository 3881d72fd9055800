// SPDX-License-Identifier: MIT
// Loops in which a context waits: nothing of its own decides how long they go round, only words of
// memory at addresses that stay. So another context has to write them, and the order in which
// contexts run matters.
//
//   wait: ld32 $m2, $m0, $mzero, 0
//         brz  $m2, wait
//
// Not found: loops of more than kLongestWaitLoop instructions, with calls or branches to registers,
// or that also count how often they have gone round.
#pragma once

#include "base/units.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::isa {

inline constexpr std::size_t kLongestWaitLoop = 32;

struct WaitLoop {
    std::size_t head = 0;           ///< first word of its first instruction
    std::vector<std::size_t> loads; ///< first words of the instructions that read what decides

    bool operator==(const WaitLoop&) const = default;
};

/// The wait loops of code at `base`, in the order of their branches back.
[[nodiscard]] std::vector<WaitLoop> wait_loops(std::span<const std::uint32_t> words, Address base);

} // namespace tessera::isa
