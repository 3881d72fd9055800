// SPDX-License-Identifier: MIT
// One graph in another: what a kernel has made for tiles from 0 on becomes part of a larger graph.
#pragma once

#include "kernels/graph/graph.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::graph {

struct Appended {
    std::vector<TensorId> tensors; ///< by tensor of the part
    Step control;                  ///< the part's steps; the whole's control is left as it is
    std::vector<BufferId> buffers; ///< by buffer of the part
};

/// Adds all of `part` to `whole`, its tile t as tile first_tile + t. Its steps are then `owner`'s.
/// The part's remote buffers stand behind those of the whole.
[[nodiscard]] Appended append(Graph& whole, Graph part, TileId first_tile,
                              const std::string& owner);

/// Buffers of a part that are buffers of the whole.
using SharedBuffers = std::map<std::uint32_t, BufferId>;

/// The buffers by which tensor `wanted` of a part stands where `standing` does. Nothing where it would
/// stand elsewhere, or where these buffers are for more than elements that the part reads, or `may_write`.
[[nodiscard]] std::optional<SharedBuffers> shared_buffers(const Graph& whole, TensorId standing,
                                                          const Graph& part, TensorId wanted,
                                                          TileId first_tile,
                                                          bool may_write = false);
/// The same as above; those buffers are there already.
[[nodiscard]] Appended append(Graph& whole, Graph part, TileId first_tile, const std::string& owner,
                              const SharedBuffers& shared);

/// A leaf of the control program: a compute set or an exchange.
struct Leaf {
    Step::Kind kind = Step::Kind::ComputeSet;
    std::uint32_t index = 0;

    friend auto operator<=>(const Leaf&, const Leaf&) = default;
};

struct SideBySide {
    Step steps;
    std::vector<std::pair<Leaf, Leaf>>
        moved; ///< a leaf of `right`, and that of `left` that it is in now
};

/// The steps of `left` and `right`, which use disjoint tiles and no leaf twice, at the same time:
/// their k-th exchanges become one, and their k-th compute sets between two exchanges. Loops of the
/// two have equal counts. @throws NotModelled for control that cannot be laid side by side
[[nodiscard]] SideBySide side_by_side(Graph& graph, const Step& left, const Step& right);

} // namespace tessera::graph
