// SPDX-License-Identifier: MIT
// The vertices of a published plan of a static sparse product that multiply, the lists that they read,
// and the zeros that partial results begin with.
#pragma once

#include "base/units.h"
#include "kernels/graph/graph.h"
#include "kernels/sparse/published/buffers.h"
#include "kernels/sparse/published/layout.h"

namespace tessera::spmm {

/// Adds a vertex for each tile with blocks. Returns the cycles that the slowest one is expected to
/// take; 0 where nothing is known of them: single elements, and FP32 with one set of matrix units.
[[nodiscard]] Cycles add_multiply(graph::Graph& graph, const PublishedLayout& layout,
                                  const PublishedBuffers& buffers, const PassOf& pass,
                                  graph::ComputeSetId set);

/// Adds a compute set that zeroes partial results, for codelets that do not begin them themselves.
[[nodiscard]] graph::ComputeSetId add_zeros(graph::Graph& graph, const PublishedLayout& layout,
                                            const PublishedBuffers& buffers);

} // namespace tessera::spmm
