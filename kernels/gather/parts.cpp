// SPDX-License-Identifier: MIT
#include "kernels/gather/parts.h"

#include "kernels/family/numbers.h"
#include "kernels/graph/copy.h"
#include "kernels/graph/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::gather {

graph::Piece piece_of(const family::TensorType& matrix, TileId tile, graph::Place place, Part rows,
                      Part units) {
    const Bytes element = bytes_of(matrix.type);
    const std::int64_t columns = matrix.shape.back();
    const std::int64_t first = units.first * kUnitBytes / element;
    const std::int64_t end = std::min(columns, (units.first + units.count) * kUnitBytes / element);
    return {tile,
            place,
            rows.first * columns + first,
            {{rows.count, columns, units.count * kUnitBytes}, {end - first, 1, element}}};
}

graph::Step bring_ids(graph::Graph& graph, const family::Site& site, const family::TensorType& type,
                      graph::TensorId ids, graph::BufferId buffer, std::int64_t tiles) {
    graph::Tensor all{.name = "row numbers", .type = type.type, .shape = type.shape};
    for (std::int64_t i = 0; i < tiles; ++i) {
        const TileId tile = site.first_tile + static_cast<TileId>(i);
        graph.hold(buffer, tile, type.elements() * kIdBytes);
        all.pieces.push_back(graph::run_of(tile, {buffer}, 0, type.elements(), type.type));
    }
    const graph::TensorId to = graph.add_tensor(std::move(all));
    graph::Step bring =
        graph::add_copy(graph, site.machine, ids, to, program::Role::Bring, site.owner, "bring");
    graph.tensors.pop_back(); // the vertices' business alone: no tensor of the program
    return bring;
}

graph::TensorId standing_ids(graph::Graph& graph, const family::Site& site,
                             const family::TensorType& type,
                             const std::optional<graph::TensorId>& where) {
    const graph::TensorId ids =
        where
            ? *where
            : graph::add_runs(graph, {site.first_tile, site.machine.chip.tiles},
                              {.name = "ids", .type = type.type, .shape = type.shape}, kUnitBytes);
    graph.tensors[ids.index].known = type.known;
    return ids;
}

void require_ids(const family::Request& request) {
    const family::TensorType& ids = request.inputs[1];
    if (ids.sparse != nullptr || ids.type != ElementType::U32 || ids.elements() == 0) {
        throw family::Refused(1, "",
                              fmt::format("ids: got {} of {}, expected row numbers of type u32",
                                          family::shape_text(ids), name_of(ids.type)));
    }
}

} // namespace tessera::gather
