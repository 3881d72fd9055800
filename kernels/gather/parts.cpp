// SPDX-License-Identifier: MIT
#include "kernels/gather/parts.h"

#include "kernels/family/numbers.h"
#include "kernels/graph/copy.h"
#include "kernels/graph/places.h"
#include "kernels/plan/repeat_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::gather {

std::optional<Cut> best_cut(const spec::MachineSpec& machine, std::int64_t rows, std::int64_t units,
                            const CutCosts& costs) {
    const std::int64_t tiles = machine.chip.tiles;
    // code, vertex state and rows of exchanges have memory elements of their own
    const Bytes room = machine.memory.bytes() - 2 * machine.memory.element_bytes;
    std::optional<Cut> best;
    std::optional<Cut> smallest;
    Cycles least = 0;
    Bytes least_bytes = 0;
    for (std::int64_t of_columns = 1; of_columns <= std::min(units, tiles); ++of_columns) {
        if (largest(units, of_columns) > plan::most_rounds(machine)) {
            continue;
        }
        const std::int64_t most = std::min(rows, tiles / of_columns);
        for (std::int64_t of_rows = 1; of_rows <= most;
             of_rows = of_rows == most ? most + 1 : std::min(2 * of_rows, most)) {
            const Cut cut{of_rows, of_columns};
            const Bytes bytes = costs.bytes_on_tile(cut);
            if (!smallest || bytes < least_bytes) {
                smallest = cut;
                least_bytes = bytes;
            }
            const Cycles cycles = costs.cycles(cut);
            if (bytes <= room && (!best || cycles < least)) {
                best = cut;
                least = cycles;
            }
        }
    }
    return best ? best : smallest;
}

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
    return bring_to(graph, site, ids, std::move(all));
}

graph::Step bring_to(graph::Graph& graph, const family::Site& site, graph::TensorId ids,
                     graph::Tensor wanted) {
    const graph::TensorId to = graph.add_tensor(std::move(wanted));
    graph::Step bring =
        graph::add_copy(graph, site.machine, ids, to, program::Role::Bring, site.owner, "bring");
    graph.tensors.pop_back(); // the step's business alone: no tensor of the program
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

bool is_row_number(const family::TensorType& ids) {
    return ids.sparse == nullptr && (ids.type == ElementType::U32 || ids.type == ElementType::I32);
}

void require_ids(const family::Request& request) {
    const family::TensorType& ids = request.inputs[1];
    if (!is_row_number(ids) || ids.elements() == 0) {
        throw family::Refused(
            1, "",
            fmt::format("ids: got {} of {}, expected row numbers of type u32 or i32",
                        family::shape_text(ids), name_of(ids.type)));
    }
}

} // namespace tessera::gather
