// SPDX-License-Identifier: MIT
// Timing mode: which repeats have rounds without a barrier, whose rounds may be counted all the same.
#pragma once

#include "base/units.h"
#include "models/program/program.h"

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

namespace tessera::ipu {

struct CountedRepeats {
    /// Nothing stops a tile in them.
    std::set<const program::Step*> lone;
    /// Stream copies alone stop tiles, with the first copy for whose end all tiles wait that do
    /// anything in a round.
    std::map<const program::Step*, std::uint32_t> by_copy;
    /// Steps in them are for some rounds alone. Their rounds are never counted.
    std::set<const program::Step*> uneven;
};

/// `program` has passed program::check_control(). `tiles_of_copy`: by stream copy, ascending.
[[nodiscard]] CountedRepeats
find_counted_repeats(const program::Program& program,
                     std::span<const std::vector<TileId>> tiles_of_copy);

} // namespace tessera::ipu
