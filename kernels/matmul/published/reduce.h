// SPDX-License-Identifier: MIT
// The partial results of a published plan of a dense product, and the stages that sum them.
#pragma once

#include "kernels/graph/graph.h"
#include "kernels/matmul/published/buffers.h"
#include "kernels/matmul/published/layout.h"

#include <cstdint>
#include <vector>

namespace tessera::matmul {

/// What the tiles have behind a step's multiplication: of each part of the result as many partial
/// results as k has parts, on whole tiles each.
[[nodiscard]] Partials partials_of(const PublishedLayout& layout, const PublishedBuffers& buffers,
                                   std::int64_t step);

/// Adds the stages that make one of each part's partial results, and runs them as the next of
/// `steps`. There are several parts of k. Returns the last stage's exchange.
graph::ExchangeId add_reduction(graph::Graph& graph, const PublishedLayout& layout,
                                const PublishedBuffers& buffers, std::int64_t step,
                                Partials& partials, std::vector<graph::Step>& steps);

} // namespace tessera::matmul
