// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_tensors.h"

#include <algorithm>
#include <utility>

namespace tessera::sparse {
void add_values(graph::Tensor& tensor, TileId tile, graph::Place place, const Problem& problem,
                const Part& part, std::int64_t first, std::int64_t last) {
    const std::int64_t block = problem.block;
    for (std::int64_t at = first; at < last;) {
        std::int64_t end = at + 1;
        while (end < last && part.blocks[static_cast<std::size_t>(end)] ==
                                 part.blocks[static_cast<std::size_t>(end - 1)] + 1) {
            ++end;
        }
        graph::Piece piece{tile,
                           place + (at - first) * problem.value_bytes(),
                           part.blocks[static_cast<std::size_t>(at)] * block * block,
                           {{end - at, block * block, problem.value_bytes()}}};
        const auto& loops = problem.kind->value_loops;
        piece.dims.insert(piece.dims.end(), loops.begin(), loops.end());
        tensor.pieces.push_back(std::move(piece));
        at = end;
    }
}

void add_values_at_home(graph::Tensor& tensor, const Homes& homes, const Partition& cut,
                        graph::BufferId values, graph::BufferId home) {
    const Problem& problem = cut.problem();
    for (const HomeRun& run : homes.values()) {
        const Part& part = cut.part(static_cast<std::int64_t>(run.group));
        add_values(tensor, run.tile, {home, run.offset}, problem, part,
                   run.first * homes.values_a_unit(),
                   std::min(std::ssize(part.blocks), run.last * homes.values_a_unit()));
    }
    for (std::int64_t number = 0; homes.values_stay() && number < cut.split().parts(); ++number) {
        const Part& part = cut.part(number);
        add_values(tensor, cut.tile(number, 0), {values}, problem, part, 0,
                   std::ssize(part.blocks));
    }
}

graph::CellGrid cells_of(const Problem& problem, std::int64_t rows, const Range& slice,
                         bool by_halves) {
    const std::int64_t group = by_halves ? 8 : problem.block;
    const Bytes element = bytes_of(problem.types.data);
    return {.rows = slice.size(),
            .group = group,
            .first_row = slice.first,
            .host_inner = rows,
            .host_rows = problem.n,
            .host_row_stride = 1,
            .host_inner_stride = problem.n,
            .cell_bytes = group * element,
            .element_bytes = element};
}

void add_lines(graph::Tensor& tensor, TileId tile, graph::Place place, graph::CellGrid cells,
               std::int64_t block, std::int64_t first, std::int64_t count) {
    const std::int64_t groups = block / cells.group; // of a line
    cells.first_group = first * groups;
    graph::add_cells(tensor, tile, place, cells, 0, count * groups * cells.rows);
}

} // namespace tessera::sparse
