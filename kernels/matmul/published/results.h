// SPDX-License-Identifier: MIT
// What a published plan of a dense product makes of a step's sums where they stand: the result's type,
// its groups of rows, its place beside earlier steps' results, bias and activation.
//
// A step's results are the only partial result of each part. Those that move or change them say in
// them where they stand then.
#pragma once

#include "base/units.h"
#include "kernels/graph/graph.h"
#include "kernels/matmul/matmul_epilogue.h"
#include "kernels/matmul/published/buffers.h"
#include "kernels/matmul/published/layout.h"

#include <cstdint>
#include <vector>

namespace tessera::matmul {

/// Adds casts of sums of one partial result to the data's type, as the next of `steps`.
void cast_results(graph::Graph& graph, const PublishedLayout& layout,
                  const PublishedBuffers& buffers, std::int64_t step, Partials& results,
                  std::vector<graph::Step>& steps);

/// Adds what makes [group][column][8 rows] of FP32 results in [group][column][16 rows], on each
/// tile, as the next of `steps`.
void regroup_results(graph::Graph& graph, const PublishedLayout& layout,
                     const PublishedBuffers& buffers, std::int64_t step, Partials& results,
                     std::vector<graph::Step>& steps);

/// This step's results join those of the steps before it. `filled`: bytes of those, by tile.
void update_result(graph::Graph& graph, const PublishedLayout& layout,
                   const PublishedBuffers& buffers, std::int64_t step, Partials& results,
                   std::vector<Bytes>& filled, std::vector<graph::Step>& steps);

/// Each part of the columns has its bias on the first tile that has some of its result; the
/// others of them get it from there in `exchange`. Returns the first ones, by field part.
[[nodiscard]] std::vector<TileId> bring_bias(graph::Graph& graph, const PublishedLayout& layout,
                                             const PublishedBuffers& buffers,
                                             const Partials& results, graph::ExchangeId exchange);

/// Adds bias and activation to this step's results, as the next of `steps`; nothing where there
/// is neither.
void add_epilogue(graph::Graph& graph, const PublishedLayout& layout,
                  const PublishedBuffers& buffers, const Epilogue& epilogue, std::int64_t step,
                  const Partials& results, std::vector<graph::Step>& steps);

} // namespace tessera::matmul
