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

/// A home with its bytes in a buffer of such homes.
struct HomeRun : Home {
    Bytes offset = 0;      ///< in the buffer
    std::int64_t turn = 0; ///< messages of one group go one after the other

    [[nodiscard]] std::int64_t units() const { return last - first; }
};

/// Puts homes behind what the buffer has already, by tile, in the order of sending: all groups take
/// their first message, then their second, so that equal groups stay in step.
[[nodiscard]] std::vector<HomeRun> in_turns(const std::vector<Home>& homes, Bytes unit_bytes,
                                            std::vector<Bytes>& filled);

/// Messages shorter than this are dearer in control than in words.
inline constexpr Bytes kShortestMessage = 256;

/// Deals `units_of_group[g]` units of every group g to `candidates`, in runs of at most `share`
/// units a tile. A tile for which `receives(tile, group)` is true gets a group's units only where
/// no other candidate has room.
[[nodiscard]] std::vector<Home>
deal_homes(const std::vector<std::int64_t>& units_of_group, const std::vector<TileId>& candidates,
           std::int64_t share, const std::function<bool(TileId tile, std::size_t group)>& receives);

/// Homes for data that goes to tile pairs at double width. While a tile sends so its partner may
/// not send: in one exchange only member `member` (0 or 1) of the pairs sends. Message j of a group
/// stands on pair j of the next group, so no pair sends to itself, and all groups have messages of
/// about one length and stay in step. `receivers_of_group[g]` is a list of complete pairs; there
/// are at least two groups. No message is shorter than `shortest` units unless its group is.
[[nodiscard]] std::vector<Home>
deal_to_next_group(const std::vector<std::int64_t>& units_of_group,
                   const std::vector<std::vector<TileId>>& receivers_of_group,
                   std::int64_t shortest, std::int64_t member);

} // namespace tessera::plan
