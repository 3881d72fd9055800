// SPDX-License-Identifier: MIT
// Vertex state of a graph: the words of every vertex and table, in buffers of their own. Words whose
// last use is in the same step share a buffer, which is freed after that step. In a buffer, words
// follow each other on their tile in the order of compute sets and vertices. A table precedes the
// words that point to it.
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
    /// Buffers of vertex state, added behind the graph's own; on the tiles that have vertex state.
    std::vector<graph::BufferId> buffers;
    std::vector<program::Lifetime> lifetimes; ///< by buffer: from the start on
    std::vector<graph::Place> of_vertex;      ///< in the order of compute sets and vertices
    std::vector<std::size_t> first_vertex;    ///< by compute set: in of_vertex
    std::vector<graph::Place> of_table;       ///< by table; unused where nothing points to it
};

/// Adds the buffers to the graph. `last_runs`: by step, as lifetimes.h finds them.
[[nodiscard]] State lay_out_state(graph::Graph& graph, std::span<const std::uint32_t> last_runs);

} // namespace tessera::lower
