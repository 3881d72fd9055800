// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/graph/graph.h"

#include <map>

namespace tessera::graph {

/// The bytes of a buffer that tiles get piece by piece, each piece behind the one before.
class Filling {
public:
    /// Lets the tile hold further bytes of the buffer, always the same one. Returns where they begin.
    Place add(Graph& graph, BufferId buffer, TileId tile, Bytes bytes) {
        Bytes& filled = filled_[tile];
        const Place place{buffer, filled};
        filled += bytes;
        graph.hold(buffer, tile, filled);
        return place;
    }

private:
    std::map<TileId, Bytes> filled_;
};

} // namespace tessera::graph
