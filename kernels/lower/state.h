// SPDX-License-Identifier: MIT
// Vertex state of a graph: the words of every vertex and table, in buffers of their own. What is
// needed for the last time in the same step shares a buffer, and goes with it. In a buffer, words
// stand behind each other on their tile, in the order of compute sets and vertices, tables before
// what points to them.
#pragma once

#include "base/units.h"
#include "kernels/graph/graph.h"
#include "models/program/program.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::lower {

constexpr Bytes kStateWordBytes = 4;

struct State {
    /// Of vertex state alone, added behind the graph's own; held by the tiles that have some.
    std::vector<graph::BufferId> buffers;
    std::vector<program::Lifetime> lifetimes; ///< by buffer: from the start on
    std::vector<graph::Place> of_vertex;      ///< in the order of compute sets and vertices
    std::vector<std::size_t> first_vertex;    ///< by compute set: in of_vertex
    std::vector<graph::Place> of_table;       ///< by table; of no use where nothing points to it
};

/// Adds the buffers to the graph. `last_runs`: by step, as lifetimes.h finds them.
[[nodiscard]] State lay_out_state(graph::Graph& graph, std::span<const std::uint32_t> last_runs);

} // namespace tessera::lower
