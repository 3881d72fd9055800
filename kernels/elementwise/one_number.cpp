// SPDX-License-Identifier: MIT
#include "kernels/elementwise/one_number.h"

#include "kernels/elementwise/map.h"
#include "kernels/graph/copy.h"
#include "kernels/graph/places.h"
#include "kernels/graph/unit_rows.h"

#include <set>
#include <utility>

namespace tessera::elementwise {

graph::TensorId add_number(graph::Graph& graph, const family::Site& site, const char* name,
                           const family::TensorType& type) {
    return graph::add_runs(graph, tiles_of(site),
                           {.name = name, .type = type.type, .shape = type.shape},
                           graph::kUnitBytes);
}

graph::Step bring_number(graph::Graph& graph, const family::Site& site, graph::TensorId number,
                         graph::TensorId beside, graph::BufferId copies) {
    const graph::Tensor& from = graph.tensors.at(number.index);
    graph::Tensor all{
        .name = graph.buffers.at(copies.index).name, .type = from.type, .shape = from.shape};
    std::set<TileId> tiles;
    for (const graph::Piece& piece : graph.tensors.at(beside.index).pieces) {
        if (tiles.insert(piece.tile).second) {
            graph.hold(copies, piece.tile, kNumberBytes);
            all.pieces.push_back(graph::run_of(piece.tile, {copies}, 0, 1, from.type));
        }
    }
    const graph::TensorId to = graph.add_tensor(std::move(all));
    graph::Step bring =
        graph::add_copy(graph, site.machine, number, to, program::Role::Bring, site.owner, "bring");
    graph.tensors.pop_back(); // the vertices' business alone: no tensor of the program
    return bring;
}

} // namespace tessera::elementwise
