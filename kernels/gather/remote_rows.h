// SPDX-License-Identifier: MIT
// Rows of a table in streaming memory, named by words on the tiles.
//
//     row numbers --exchange--> each tile: the numbers of the rows that it shall hold
//     streaming memory --one copy--> tiles: runs of the rows, over all tiles of the site
//
// A copy of more bytes than streaming.copy_limit_bytes becomes several, one behind the other.
// Timing: the exchange, then that of a stream copy (docs/models/streaming.md); no cycle depends on a
// number.
#pragma once

#include "kernels/family/family.h"

#include <cstdint>

namespace tessera::gather {

/// Holds what is read: `groups` tables behind each other in the remote buffer, each with as many rows, and
/// from each of them as many rows as from the others.
struct RemoteRows {
    std::int64_t groups = 1;
    std::int64_t table_rows = 0; ///< of a table
    std::int64_t numbers = 0;    ///< of rows, from each table
    family::TensorType output;   ///< groups * numbers rows; its last size is that of a row
};

/// Adds the copies to the graph. The bytes of a row are a multiple of 4. Returns the tensor with the
/// rows as output 0; `ids` is input 1, and input 0 is none.
[[nodiscard]] family::Emitted read_remote_rows(graph::Graph& graph, const family::Site& site,
                                               const RemoteRows& rows, graph::TensorId ids,
                                               const family::TensorType& ids_type);

} // namespace tessera::gather
