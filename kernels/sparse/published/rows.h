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

/// Adds the exchanges and compute sets and runs them as the next of `steps`. Returns the cycles that
/// the sums of the slowest tile are expected to take, copies apart.
[[nodiscard]] Cycles add_rows(graph::Graph& graph, const PublishedLayout& layout,
                              const PublishedBuffers& buffers, std::vector<graph::Step>& steps);

} // namespace tessera::spmm
