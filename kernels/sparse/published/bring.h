// SPDX-License-Identifier: MIT
// How rows of X, and blocks that several parts need, come from where they stand to the tiles that
// multiply them.
#pragma once

#include "kernels/graph/graph.h"
#include "kernels/sparse/published/buffers.h"
#include "kernels/sparse/published/layout.h"

namespace tessera::spmm {

/// Adds the messages to `bring`, and to `copies` what stands on the tile that needs it. Blocks come
/// in the first pass alone: they stay.
void bring_operands(graph::Graph& graph, const PublishedLayout& layout,
                    const PublishedBuffers& buffers, const PassOf& pass, graph::ExchangeId bring,
                    graph::ComputeSetId copies);

} // namespace tessera::spmm
