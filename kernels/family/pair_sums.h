// SPDX-License-Identifier: MIT
// One sum of pairs of FP32 numbers that stand on many tiles, for steps whose result is a number.
//
//     pairs of a tile --sum--> a pair --exchange--> first tile of a group --sum--> a pair --exchange--> ...
//
// Groups have about as many tiles as there are groups, so that two exchanges suffice.
#pragma once

#include "kernels/family/family.h"
#include "kernels/graph/graph.h"

#include <cstdint>
#include <map>
#include <optional>

namespace tessera::family {

/// The pairs begin `pairs`, which each tile holds already.
struct PairsOnTiles {
    graph::BufferId pairs;
    std::map<TileId, std::int64_t> count; ///< of each tile, at least 1
};

struct PairSum {
    TileId tile = 0;            ///< where the sum is: the first that has pairs
    std::int64_t additions = 0; ///< that a number takes part in, at most
    graph::Step steps;          ///< behind the set
};

/// Adds the sum of all pairs to `to`, which its tile holds. With a factor it is one number: factor times
/// both sums' sum. The vertices that each tile begins with are added to `set`.
PairSum add_pair_sum(graph::Graph& graph, const Site& site, graph::ComputeSetId set,
                     const PairsOnTiles& from, graph::Place to,
                     std::optional<double> factor = std::nullopt);

} // namespace tessera::family
