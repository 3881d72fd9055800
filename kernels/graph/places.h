// SPDX-License-Identifier: MIT
// Tensors that a step adds for itself: in the places of another tensor, or in runs.
#pragma once

#include "kernels/graph/graph.h"
#include "kernels/graph/rows.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace tessera::graph {

/// Whether the tensor is on these tiles only.
[[nodiscard]] bool is_on(TileRange tiles, const Tensor& tensor);

/// Where an element of the tensor stands, the first place of several; nothing: nowhere.
[[nodiscard]] std::optional<TilePlace> place_of(const Tensor& tensor, std::int64_t element);

/// Buffers of one tensor -> those of the other, if every element stands on the same tile and at the
/// same place in both; places count in elements, so the types may differ. Nothing if not.
using BufferPairs = std::map<std::uint32_t, BufferId>;
[[nodiscard]] std::optional<BufferPairs> alike(const Tensor& one, const Tensor& other);

/// Adds a tensor that stands as `model` does, in buffers of its own. They hold all of every 8 bytes
/// of which the model has an element in some; nothing else stands in them.
TensorId add_alike(Graph& graph, const std::string& name, ElementType type, TensorId model);

/// Adds the tensor, which has no pieces yet, in even runs of whole grains on the tiles; the last
/// run may end with a part of one. A grain is a multiple of 8 bytes.
TensorId add_runs(Graph& graph, TileRange tiles, Tensor tensor, Bytes grain_bytes);

} // namespace tessera::graph
