// SPDX-License-Identifier: MIT
// The vertices of a published plan of a dense product that multiply.
#pragma once

#include "kernels/graph/graph.h"
#include "kernels/matmul/published/buffers.h"
#include "kernels/matmul/published/layout.h"

#include <cstdint>

namespace tessera::matmul {

/// Holds what the tiles read and write in a step, and adds a vertex for each tile that has some of
/// its out-groups.
void add_multiply(graph::Graph& graph, const PublishedLayout& layout,
                  const PublishedBuffers& buffers, std::int64_t step, graph::ComputeSetId set);

} // namespace tessera::matmul
