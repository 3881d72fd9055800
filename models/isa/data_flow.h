// SPDX-License-Identifier: MIT
// Where values go inside an instruction or bundle: which registers a result depends on, which
// values leave the registers. Never less than the machine does, which tests hold for every row of
// the table; now and then more.
#pragma once

#include "models/isa/instruction.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::isa {

/// Places of values, as bits of a mask: $m0..$m11, $a0..$a7, and the accumulators in pairs of
/// units, as they move through the banks.
namespace place {
using Mask = std::uint64_t;
enum Bank : unsigned { Even, Odd, EvenOfSecondSet, OddOfSecondSet };
inline constexpr unsigned kPairs = 4; ///< of a bank: pair n holds units 2n and 2n + 1
inline constexpr unsigned kMain = 0;
inline constexpr unsigned kAux = 16;
inline constexpr unsigned kAccumulators = 24; ///< the first of them
[[nodiscard]] constexpr unsigned accumulators(Bank bank, unsigned pair) {
    return kAccumulators + kPairs * bank + pair;
}
inline constexpr unsigned kCount = kAccumulators + 4 * kPairs;
inline constexpr std::uint8_t kNowhere = 0xff; ///< of a loaded word: thrown away
inline constexpr std::uint8_t kOutside = 0xfe; ///< of a loaded word: into the weight store
} // namespace place

struct DataFlow {
    struct Result {
        std::uint8_t to = 0;  ///< a place, whose old value is gone
        place::Mask from = 0; ///< places that the new one depends on
    };
    /// Places whose value leaves: as address, stored data, condition, launch, control register.
    place::Mask used = 0;
    place::Mask computed = 0;    ///< places whose value may set sticky flags of FP_STS, or trap
    std::vector<Result> results; ///< all from the values before the instruction
    std::vector<std::uint8_t>
        loaded; ///< where each 32-bit word goes that it reads from memory, in the order of reading
    /// The aux register whose bit ZAACC clears all accumulators (`uput $FP_CLR`).
    std::optional<std::uint8_t> clears_by;
};

[[nodiscard]] DataFlow data_flow(const Operation& operation);

/// The data flow of a bundle, both halves of which read before either writes.
[[nodiscard]] DataFlow data_flow(const Operation& main, const Operation& aux);

/// Whether a worker that executes the operation learns the sticky flags of its arithmetic.
[[nodiscard]] bool reads_sticky_flags(const Operation& operation);

} // namespace tessera::isa
