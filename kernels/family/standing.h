// SPDX-License-Identifier: MIT
// A part of a graph that a step has made by itself: which of its inputs stand already where it wants them.
#pragma once

#include "kernels/family/family.h"
#include "kernels/graph/append.h"
#include "kernels/graph/graph.h"

#include <optional>
#include <span>
#include <vector>

namespace tessera::family {

/// An input of a part.
struct Wanted {
    graph::TensorId tensor; ///< of the part
    std::optional<graph::TensorId>
        stands;             ///< in the whole graph; nothing: it may not be read there
    bool may_write = false; ///< the part may write it
};

struct Standing {
    graph::SharedBuffers shared; ///< buffers of the part that are those of the whole graph
    std::vector<bool> inputs;    ///< by input: it is read where it stands
    bool forms = false;          ///< so are the other forms of the first input
};

/// `forms`: tensors of the part, if its first input has other forms.
[[nodiscard]] Standing standing(const graph::Graph& graph, const graph::Graph& part,
                                const Site& site, std::span<const Wanted> inputs,
                                std::span<const graph::TensorId> forms);

} // namespace tessera::family
