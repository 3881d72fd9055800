// SPDX-License-Identifier: MIT
// The buffers of a published plan of a dense product.
#pragma once

#include "base/units.h"
#include "kernels/graph/graph.h"
#include "kernels/matmul/published/layout.h"

#include <vector>

namespace tessera::matmul {

inline constexpr Bytes kStackBytes = 32; ///< of ConvPartial1x1Out_*

struct PublishedBuffers {
    graph::BufferId out; ///< partial results
    graph::BufferId weights;
    graph::BufferId x;
    graph::BufferId home_weights; ///< of all steps
    graph::BufferId slice;        ///< of a step's weights, as they are sent
    graph::BufferId home_x;
    graph::BufferId stack;
    graph::BufferId result; ///< of all steps, where there are several
    graph::BufferId cast;
    graph::BufferId regrouped;
    graph::BufferId bias;               ///< where there is one
    std::vector<graph::BufferId> slots; ///< of the reduction's stages
    std::vector<graph::BufferId> sums;  ///< of them
};

/// Adds all buffers, and holds the stack alone.
[[nodiscard]] PublishedBuffers add_buffers(graph::Graph& graph, const PublishedLayout& layout);

} // namespace tessera::matmul
