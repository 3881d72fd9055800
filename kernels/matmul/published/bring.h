// SPDX-License-Identifier: MIT
// How a published plan of a dense product brings X and a step's weights from where they stand to the
// tiles that multiply them.
#pragma once

#include "base/units.h"
#include "kernels/graph/graph.h"
#include "kernels/matmul/published/buffers.h"
#include "kernels/matmul/published/layout.h"

#include <cstdint>
#include <vector>

namespace tessera::matmul {

/// Adds the messages to `bring`, and to `copies` what stands on the tile that needs it.
void bring_inputs(graph::Graph& graph, const PublishedLayout& layout,
                  const PublishedBuffers& buffers, graph::ExchangeId bring,
                  graph::ComputeSetId copies);

/// Where the weights of the steps so far stand.
struct HomeWeights {
    graph::Tensor tensor;
    std::vector<Bytes> filled; ///< of the home buffer, by tile
};

/// The same for a step's weights, whose homes it adds. The slice of a serial step is copied, in
/// `slice`, out of what stands there for all steps.
void bring_weights(graph::Graph& graph, const PublishedLayout& layout,
                   const PublishedBuffers& buffers, std::int64_t step, graph::ComputeSetId slice,
                   graph::ExchangeId bring, graph::ComputeSetId copies, HomeWeights& homes);

} // namespace tessera::matmul
