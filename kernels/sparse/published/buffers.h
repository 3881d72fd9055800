// SPDX-License-Identifier: MIT
// The buffers of a published plan of a static sparse product.
#pragma once

#include "base/units.h"
#include "kernels/graph/graph.h"
#include "kernels/sparse/published/layout.h"

#include <vector>

namespace tessera::spmm {

struct PublishedBuffers {
    graph::BufferId values;
    graph::BufferId meta;
    graph::BufferId out; ///< partial results
    graph::BufferId x;
    graph::BufferId home_x;
    graph::BufferId home_values;
    graph::BufferId result;
    graph::BufferId slots; ///< partial results from other tiles
    graph::BufferId sums;

    /// Buffers of a pass' columns; all others are those of the first pass, too.
    [[nodiscard]] std::vector<graph::BufferId> of_pass() const { return {home_x, result}; }
    /// What stands in a tile's memory while it multiplies, whatever else does.
    [[nodiscard]] std::vector<graph::BufferId> while_multiplying() const {
        return {result, x, out, values};
    }
};

/// Adds all buffers, and holds those whose sizes the layout says: not meta, slots and sums.
[[nodiscard]] PublishedBuffers add_buffers(graph::Graph& graph, const PublishedLayout& layout,
                                           const PassOf& pass);

} // namespace tessera::spmm
