// SPDX-License-Identifier: MIT
#include "kernels/elementwise/worker_pairs.h"

#include "kernels/graph/unit_rows.h"

#include <algorithm>
#include <map>

namespace tessera::elementwise {

std::int64_t most_units_on_a_tile(const graph::Graph& graph, graph::TensorId tensor) {
    std::map<TileId, std::int64_t> units;
    std::int64_t most = 0;
    for (const graph::UnitRows& rows : graph::unit_rows_of(graph.tensors.at(tensor.index))) {
        most = std::max(most, units[rows.tile] += rows.rows * rows.units);
    }
    return most;
}

} // namespace tessera::elementwise
