// SPDX-License-Identifier: MIT
// Where operands stand before they are sent: every unit on one tile, evenly over the chip, and away
// from the tiles that receive it, because no tile can receive its own words.
#pragma once

#include "base/units.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace tessera::plan {

/// Units [first, last) of one group's data, and the tile they stand on.
struct Home {
    std::size_t group = 0;
    std::int64_t first = 0;
    std::int64_t last = 0;
    TileId tile = 0;
};

/// Deals `units_of_group[g]` units of every group g to `candidates`, in runs of at most `share`
/// units a tile. A tile for which `receives(tile, group)` is true gets a group's units only where
/// no other candidate has room.
[[nodiscard]] std::vector<Home>
deal_homes(const std::vector<std::int64_t>& units_of_group, const std::vector<TileId>& candidates,
           std::int64_t share, const std::function<bool(TileId tile, std::size_t group)>& receives);

} // namespace tessera::plan
