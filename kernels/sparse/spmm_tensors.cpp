// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_tensors.h"

#include <algorithm>
#include <utility>

namespace tessera::spmm {
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
        const auto loops = problem.kind->value_loops();
        piece.dims.insert(piece.dims.end(), loops.begin(), loops.end());
        tensor.pieces.push_back(std::move(piece));
        at = end;
    }
}

void add_lines(graph::Tensor& tensor, TileId tile, graph::Place place, const LineShape& shape,
               std::int64_t first, std::int64_t count) {
    const std::int64_t width = shape.slice.length();
    const std::int64_t valid = std::min(shape.n, shape.slice.end) - shape.slice.begin;
    const std::int64_t line_bytes = shape.element * shape.block * width;
    const std::int64_t full = std::clamp<std::int64_t>(shape.rows / shape.block - first, 0, count);
    const auto add = [&](std::int64_t line, std::int64_t lines, std::int64_t rows) {
        const std::int64_t group = shape.by_halves ? 8 : shape.block;
        for (std::int64_t half = 0; half * group < rows; ++half) {
            graph::Piece piece;
            piece.tile = tile;
            piece.place =
                place + ((line - first) * line_bytes + half * group * width * shape.element);
            piece.host_offset = (line * shape.block + half * group) * shape.n + shape.slice.begin;
            // There may be as many pieces as lines: loops of one round are left out.
            const std::int64_t here = std::min(group, rows - half * group);
            piece.dims.reserve(1 + (lines > 1 ? 1 : 0) + (here > 1 ? 1 : 0));
            if (lines > 1) {
                piece.dims.push_back({lines, shape.block * shape.n, line_bytes});
            }
            piece.dims.push_back({valid, 1, shape.element * group});
            if (here > 1) {
                piece.dims.push_back({here, shape.n, shape.element});
            }
            tensor.pieces.push_back(std::move(piece));
        }
    };
    if (full > 0) {
        add(first, full, shape.block);
    }
    if (full < count) {
        add(first + full, count - full, shape.rows % shape.block);
    }
}

LineShape shape_of(const Problem& problem, std::int64_t rows, const Range& slice) {
    return {rows, problem.n, problem.block, bytes_of(problem.types.data), slice, false};
}

} // namespace tessera::spmm
