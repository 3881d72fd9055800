// SPDX-License-Identifier: MIT
// A tensor on tiles that has rows by its first size, one behind the other on each tile. Each row stands
// as a tensor without that size does, so that a row is moved without leaving its tile:
//
//     tile 3                                     tile 4
//     model  [ elements 0 - 9 ]                  [ elements 10 - 19 ]
//     rows   [ row 0: 0 - 9 | row 1: 0 - 9 ]     [ row 0: 10 - 19 | row 1: 10 - 19 ]
#pragma once

#include "kernels/graph/graph.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace tessera::graph {

struct RowStack {
    TensorId rows;
    TensorId model; ///< a row stands as this one does
    /// By buffer of the model.
    std::map<std::uint32_t, BufferId> buffers;
    /// Bytes of a row, by tile and buffer of the model.
    std::map<std::pair<TileId, std::uint32_t>, Bytes> bytes;
};

/// Whether rows can stand as the tensor does: it has each element once, fills its buffers with whole
/// words, and no tile has more than twice an even share of `tiles` tiles.
[[nodiscard]] bool can_stack(const Graph& graph, TensorId model, std::int64_t tiles);

/// Adds the tensor of `rows` rows over buffers of its own. The model is one that can_stack() takes.
[[nodiscard]] RowStack add_row_stack(Graph& graph, const std::string& name, std::int64_t rows,
                                     TensorId model);

/// Says which row is moved: `row + row_a_round * round`, with the number that a repeat stores in `round`.
struct RowOfRound {
    std::int64_t row = 0;
    std::int64_t row_a_round = 0;
    std::optional<BufferId> round = {}; ///< nothing: it is `row`
};

/// Adds a compute set that copies a row into the stack, or from it. `row` stands alike the model.
[[nodiscard]] Step store_row(Graph& graph, const spec::MachineSpec& machine, const RowStack& stack,
                             TensorId row, const RowOfRound& which, const std::string& owner);
[[nodiscard]] Step load_row(Graph& graph, const spec::MachineSpec& machine, const RowStack& stack,
                            TensorId row, const RowOfRound& which, const std::string& owner);

} // namespace tessera::graph
