// SPDX-License-Identifier: MIT
// Sums of products over rows that the workers of a tile share (kernels/family/row_shares.h).
#pragma once

#include "base/element_type.h"
#include "base/units.h"
#include "kernels/family/row_shares.h"
#include "kernels/graph/graph.h"
#include "kernels/graph/rows.h"

#include <array>
#include <cstdint>
#include <vector>

namespace tessera::softmax {

/// The bits of a row's last unit that are elements, by words.
[[nodiscard]] std::array<std::uint32_t, 2> tail_mask(Bytes row_bytes);

/// Issues of each worker of the vertex that add_sums() adds.
[[nodiscard]] std::vector<std::int64_t> sums_issues(std::int64_t workers,
                                                    const family::RowCut& cut);

/// Adds a vertex that leaves -(sum of y dy) of each share in `partials`, [row][share] of f32.
void add_sums(graph::Graph& graph, graph::ComputeSetId set, std::int64_t workers, ElementType type,
              Bytes row_bytes, const family::RowCut& cut, const graph::RowBlock& y,
              const graph::RowBlock& dy, graph::Place partials);

} // namespace tessera::softmax
