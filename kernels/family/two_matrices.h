// SPDX-License-Identifier: MIT
// Two matrices of one type and shape whose rows a step reads together.
#pragma once

#include "kernels/family/family.h"
#include "kernels/graph/graph.h"
#include "kernels/graph/rows.h"

#include <array>
#include <optional>
#include <span>

namespace tessera::family {

/// Where the step reads them: the first one that was offered with whole rows from units on, on tiles of
/// the site, and the other one in the same rows. `names`: of those that are added.
[[nodiscard]] std::array<graph::InRows, 2>
two_matrices(graph::Graph& graph, const Site& site, const TensorType& type,
             std::array<const char*, 2> names,
             std::span<const std::optional<graph::TensorId>> where);

} // namespace tessera::family
