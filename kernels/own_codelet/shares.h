// SPDX-License-Identifier: MIT
// How the units of split tensors are dealt to tiles, and tensors that stand so: on every tile one run
// of neighbouring elements.
//
//     units     0 1 2 3 4 5 6 7 8 9
//     tile 4    [0, 4)                  grain 2: whole pairs, but for what the last tile may have
//     tile 5            [4, 6)
//     tile 6                [6, 10)
#pragma once

#include "base/units.h"
#include "kernels/graph/graph.h"
#include "kernels/graph/rows.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::own_codelet {

struct Share {
    TileId tile = 0;
    std::int64_t first = 0;
    std::int64_t units = 0;
};
using Shares = std::vector<Share>; ///< in the order of the units; every unit is in one

/// As even as the grain allows; tiles that have none are left out.
[[nodiscard]] Shares even_shares(graph::TileRange tiles, std::int64_t units, std::int64_t grain);

/// How units of so many elements are dealt where the tensor stands. Nothing where it does not stand in
/// one run a tile.
[[nodiscard]] std::optional<Shares> shares_of(const graph::Tensor& tensor,
                                              std::int64_t unit_elements);

/// What a codelet wants of the memory of an array.
struct Room {
    std::string name;
    graph::Where where = graph::Where::Any;
    Bytes alignment = 1;
    Bytes before = 0; ///< readable, multiples of the alignment
    Bytes behind = 0; ///< readable
};

/// A tensor, and where a tile has its share of it, by share.
struct Standing {
    graph::TensorId tensor;
    std::vector<graph::Place> places;
};

/// A buffer for an array, which no tile holds yet.
[[nodiscard]] graph::BufferId add_room(graph::Graph& graph, const Room& room,
                                       program::SegmentKind kind = program::SegmentKind::Tensor);

/// The tensor where it stands, if it does as the shares and the room want it. Its buffers get what the
/// room wants of them.
[[nodiscard]] std::optional<Standing> standing_as(graph::Graph& graph, graph::TensorId tensor,
                                                  const Shares& shares, std::int64_t unit_elements,
                                                  const Room& room);

/// Adds the tensor, which has no pieces yet, in shares.
[[nodiscard]] Standing add_split(graph::Graph& graph, graph::Tensor tensor, const Shares& shares,
                                 std::int64_t unit_elements, const Room& room);

/// Adds the tensor whole on every tile that has a share.
[[nodiscard]] Standing add_whole(graph::Graph& graph, graph::Tensor tensor, const Shares& shares,
                                 const Room& room);

} // namespace tessera::own_codelet
