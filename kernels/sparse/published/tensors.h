// SPDX-License-Identifier: MIT
// How the host sees operands and result of a published plan of a static sparse product.
#pragma once

#include "kernels/graph/graph.h"
#include "kernels/sparse/published/buffers.h"
#include "kernels/sparse/published/layout.h"

namespace tessera::spmm {

/// Adds "a" {blocks, block, block}, "b" {k, n} and "c" {m, n}; of b and c the columns of the pass.
void add_tensors(graph::Graph& graph, const PublishedLayout& layout,
                 const PublishedBuffers& buffers, const PassOf& pass);

} // namespace tessera::spmm
