// SPDX-License-Identifier: MIT
// Tables of rows that are divided into parts of rows and of columns, one on each tile.
#pragma once

#include "base/units.h"
#include "kernels/family/family.h"
#include "kernels/graph/graph.h"
#include "kernels/plan/vertex_cost.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tessera::gather {

constexpr Bytes kUnitBytes = 8; ///< what the codelets move at once
constexpr Bytes kIdBytes = 4;

/// Part `part` of `parts` even ones of [0, all).
struct Part {
    std::int64_t first = 0;
    std::int64_t count = 0;
};
[[nodiscard]] inline Part part_of(std::int64_t all, std::int64_t parts, std::int64_t part) {
    const std::int64_t first = all * part / parts;
    return {first, all * (part + 1) / parts - first};
}
[[nodiscard]] inline std::int64_t largest(std::int64_t all, std::int64_t parts) {
    return (all + parts - 1) / parts;
}

/// Into how many parts a table is divided.
struct Cut {
    std::int64_t rows = 1;
    std::int64_t columns = 1;
};

/// Answers what a search asks of each cut.
struct CutCosts {
    std::function<Bytes(const Cut&)> bytes_on_tile;
    std::function<Cycles(const Cut&)> cycles;
};

/// The cut of the least cycles by estimate among those whose bytes fit; the one of the least bytes where
/// none does, so that lowering says by how much. Nothing where a tile's units of a row are always more
/// than a repeat's rounds.
[[nodiscard]] std::optional<Cut> best_cut(const spec::MachineSpec& machine, std::int64_t rows,
                                          std::int64_t units, const CutCosts& costs);

/// The issues of all workers of a vertex that deals `units` evenly.
template <class IssuesOf>
[[nodiscard]] Cycles dealt(const spec::MachineSpec& machine, std::int64_t units,
                           const IssuesOf& issues_of) {
    std::vector<std::int64_t> issues;
    for (std::int64_t worker = 0; worker < machine.tile.workers; ++worker) {
        issues.push_back(issues_of(units / machine.tile.workers +
                                   (worker < units % machine.tile.workers ? 1 : 0)));
    }
    return plan::multi_worker_cycles(machine, issues);
}

/// Rows of a matrix of so many columns on a tile, with the columns of some units.
[[nodiscard]] graph::Piece piece_of(const family::TensorType& matrix, TileId tile,
                                    graph::Place place, Part rows, Part units);

/// Calls `body(tile, rows, units)` for each part of a table of so many rows and units of a row.
template <class Body>
void for_parts(TileId first_tile, const Cut& cut, std::int64_t rows, std::int64_t units,
               const Body& body) {
    TileId tile = first_tile;
    for (std::int64_t row = 0; row < cut.rows; ++row) {
        for (std::int64_t column = 0; column < cut.columns; ++column) {
            body(tile++, part_of(rows, cut.rows, row), part_of(units, cut.columns, column));
        }
    }
}

/// Brings all row numbers from where they stand to each of the first `tiles` tiles of the site, into
/// `buffer`.
[[nodiscard]] graph::Step bring_ids(graph::Graph& graph, const family::Site& site,
                                    const family::TensorType& type, graph::TensorId ids,
                                    graph::BufferId buffer, std::int64_t tiles);

/// Brings row numbers from where they stand to `wanted`, which is no tensor of the program.
[[nodiscard]] graph::Step bring_to(graph::Graph& graph, const family::Site& site,
                                   graph::TensorId ids, graph::Tensor wanted);

/// Where row numbers stand, or runs of them over the site's tiles.
[[nodiscard]] graph::TensorId standing_ids(graph::Graph& graph, const family::Site& site,
                                           const family::TensorType& type,
                                           const std::optional<graph::TensorId>& where);

/// Whether a tensor's elements can number rows. One below 0 is none, as one beyond the last row.
[[nodiscard]] bool is_row_number(const family::TensorType& ids);

/// @throws Refused unless input 1 is a list of row numbers
void require_ids(const family::Request& request);

} // namespace tessera::gather
