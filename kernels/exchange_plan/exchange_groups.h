// SPDX-License-Identifier: MIT
// Groups the messages of an exchange that go to the same tiles.
#pragma once

#include "kernels/exchange_plan/exchange_jobs.h"

#include <cstdint>
#include <vector>

namespace tessera::exchange_plan {

enum class GroupBy {
    Receivers, ///< messages to the same pairs of tiles are one group
    AllTiles   ///< messages between the same pairs of tiles, the sender's included
};

/// Tiles count as pairs; a pair is named by its first tile.
struct Groups {
    std::vector<std::uint32_t> group_of_job;
    std::vector<std::vector<TileId>> pairs; ///< of each group, ascending; groups as they appear
};

[[nodiscard]] Groups find_groups(const JobList& list, TileId pair_bit, GroupBy by);

} // namespace tessera::exchange_plan
