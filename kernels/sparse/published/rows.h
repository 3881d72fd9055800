// SPDX-License-Identifier: MIT
// What the tiles have of C becomes C: rows that one tile has alone are put where they stand; those that
// several have are summed there, or on other tiles and then moved.
#pragma once

#include "base/units.h"
#include "kernels/graph/graph.h"
#include "kernels/sparse/published/emitter.h"
#include "kernels/sparse/published/layout.h"

#include <vector>

namespace tessera::spmm {

/// What a compute set's slowest tile is expected to take: its own vertices, said by tile, and its copies.
[[nodiscard]] Cycles slowest_of(const graph::Graph& graph, const spec::MachineSpec& machine,
                                graph::ComputeSetId set, std::vector<Cycles> vertices);

/// Adds the exchanges and compute sets and runs them as the next of `steps`. Returns the cycles that
/// their compute sets are expected to take.
[[nodiscard]] Cycles add_rows(graph::Graph& graph, const PublishedLayout& layout,
                              const PublishedBuffers& buffers, std::vector<graph::Step>& steps);

} // namespace tessera::spmm
