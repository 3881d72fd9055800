// SPDX-License-Identifier: MIT
// Tensors that a step adds for itself: in the places of another tensor, or spread over its tiles.
#pragma once

#include "kernels/graph/graph.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace tessera::graph {

/// [first, first + count).
struct Tiles {
    TileId first = 0;
    std::int64_t count = 0;
};

/// Does the tensor stand on these tiles alone?
[[nodiscard]] bool is_on(const Tiles& tiles, const Tensor& tensor);

/// Buffers of one tensor -> those of the other, if every element stands on the same tile and at the same
/// place in both; places count in elements, so the types may differ. Nothing if not.
using BufferPairs = std::map<std::uint32_t, BufferId>;
[[nodiscard]] std::optional<BufferPairs> alike(const Tensor& one, const Tensor& other);

/// Adds a tensor that stands as `model` does, in buffers of its own. They hold all of every 8 bytes of
/// which the model has an element in some; nothing else stands in them.
TensorId add_alike(Graph& graph, const std::string& name, ElementType type, TensorId model);

/// Adds a tensor in rows of so many elements, each from a multiple of 8 bytes on, evenly on the tiles.
/// The last row may be shorter, if rows are whole multiples of 8 bytes.
TensorId add_spread(Graph& graph, const Tiles& tiles, Tensor made, std::int64_t row_elements);

} // namespace tessera::graph
