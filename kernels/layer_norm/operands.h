// SPDX-License-Identifier: MIT
// What layer norms and their gradients read beside rows: vectors that every tile has in whole, and
// numbers of rows.
#pragma once

#include "base/element_type.h"
#include "base/units.h"
#include "kernels/codelets/layer_norm_cost.h"
#include "kernels/family/family.h"
#include "kernels/family/row_shares.h"
#include "kernels/graph/graph.h"
#include "kernels/graph/rows.h"
#include "kernels/plan/vertex_cost.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::layer_norm {

/// A vector, and its elements on each tile that has rows.
struct EveryTile {
    graph::TensorId input;  ///< where it is read from
    graph::BufferId buffer; ///< whole units, from byte 0 on
    graph::Step steps;      ///< that bring it
};

/// Adds it to the tiles of `blocks`. `vector`: the input without places.
[[nodiscard]] EveryTile bring(graph::Graph& graph, const family::Site& site, graph::Tensor vector,
                              std::optional<graph::TensorId> where,
                              std::span<const graph::RowBlock> blocks);

/// An FP32 number for each row, on the row's tile: `blocks` have the rows of `rows` as their elements.
struct OfRows {
    graph::TensorId tensor;
    std::vector<graph::RowBlock> blocks;
};

/// Adds a tensor of them. `of`: its name and shape.
[[nodiscard]] OfRows add_of_rows(graph::Graph& graph, const graph::Tensor& of,
                                 std::span<const graph::RowBlock> rows);
/// The tensor that is offered, where it stands so; else one that is added.
[[nodiscard]] OfRows of_rows(graph::Graph& graph, const graph::Tensor& of,
                             std::optional<graph::TensorId> where,
                             std::span<const graph::RowBlock> rows);

/// Type of what a matrix has one of for each row.
[[nodiscard]] family::TensorType row_type(const family::TensorType& x);

/// @throws Refused unless input `number`, called so, has an element for each column of the first one
void require_columns(const family::Request& request, std::size_t number, const char* name);

/// Adds a launch of all workers to a tile's stub: of each worker's share, with `rounds` and `tail` by it.
template <class Rounds, class Tail>
void add_cycles(plan::StubTimeline& stub, const codelets::RowShareCost& cost,
                const family::RowCut& cut, std::int64_t workers, const Rounds& rounds,
                const Tail& tail) {
    std::vector<std::int64_t> issues;
    for (std::int64_t w = 0; w < workers; ++w) {
        const family::RowShare share = family::share_of(cut, workers, w);
        issues.push_back(
            codelets::row_share_issues(cost, share.rows, cut.shares, rounds(share), tail(share)));
    }
    stub.multi_worker(issues);
}

} // namespace tessera::layer_norm
