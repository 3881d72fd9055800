// SPDX-License-Identifier: MIT
// A tensor of one number of 4 bytes beside the elements of another tensor.
#pragma once

#include "kernels/family/family.h"
#include "kernels/graph/graph.h"

namespace tessera::elementwise {

inline constexpr Bytes kNumberBytes = 4;

/// Adds it where the host may write it.
[[nodiscard]] graph::TensorId add_number(graph::Graph& graph, const family::Site& site,
                                         const char* name, const family::TensorType& type);

/// Gives each tile that has elements of `beside` a copy of the number, at the begin of `copies`.
[[nodiscard]] graph::Step bring_number(graph::Graph& graph, const family::Site& site,
                                       graph::TensorId number, graph::TensorId beside,
                                       graph::BufferId copies);

} // namespace tessera::elementwise
