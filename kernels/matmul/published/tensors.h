// SPDX-License-Identifier: MIT
// How the host sees operands and result of a published plan of a dense product.
#pragma once

#include "kernels/graph/graph.h"
#include "kernels/matmul/published/buffers.h"
#include "kernels/matmul/published/layout.h"

#include <cstdint>
#include <vector>

namespace tessera::matmul {

/// "a" {m, k}, whose pieces come with the steps.
[[nodiscard]] graph::Tensor weights_tensor(const PublishedLayout& layout);
/// Adds blocks [first, last) of a step's weights of a tile, one after the other from `place` on.
void add_blocks(graph::Tensor& weights, const PublishedLayout& layout, std::int64_t step,
                TileId tile, graph::Place place, const published::Run& blocks);

/// "b" {k, n}.
[[nodiscard]] graph::Tensor inputs_tensor(const PublishedLayout& layout,
                                          const PublishedBuffers& buffers);

/// "c" {m, n}, whose pieces come with the steps.
[[nodiscard]] graph::Tensor result_tensor(const PublishedLayout& layout);
/// Adds a step's results where they stand: a part's only partial result.
void add_results(graph::Tensor& result, const PublishedLayout& layout, std::int64_t step,
                 const Partials& results);

/// "bias" {n}, each part of the columns on its home. `homes`: by field part.
[[nodiscard]] graph::Tensor bias_tensor(const PublishedLayout& layout,
                                        const PublishedBuffers& buffers,
                                        const std::vector<TileId>& homes);

} // namespace tessera::matmul
