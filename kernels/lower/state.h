// SPDX-License-Identifier: MIT
// Vertex state of a graph: the words of every vertex and table stand behind each other on their tile, in
// the order of compute sets and vertices, tables before what points to them.
#pragma once

#include "base/units.h"
#include "kernels/graph/graph.h"

#include <cstddef>
#include <map>
#include <vector>

namespace tessera::lower {

constexpr Bytes kStateWordBytes = 4;

/// Offsets count from where a tile's state begins.
struct State {
    std::vector<Bytes> of_vertex;          ///< in the order of compute sets and vertices
    std::vector<std::size_t> first_vertex; ///< by compute set: in of_vertex
    std::vector<Bytes> of_table;           ///< by table; of one that nothing points to, -1
    std::map<TileId, Bytes> bytes;         ///< in all
};

[[nodiscard]] State lay_out_state(const graph::Graph& graph);

} // namespace tessera::lower
