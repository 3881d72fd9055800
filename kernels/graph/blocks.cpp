// SPDX-License-Identifier: MIT
#include "kernels/graph/blocks.h"

#include "base/error.h"

#include <algorithm>

namespace tessera::graph {
namespace {

using program::PieceDim;

/// Of a piece: dimensions that are neither along a row nor from row to row lead from block to
/// block.
struct Nest {
    std::vector<PieceDim> between;
    std::int64_t rows = 1;
    Bytes row_stride = 0;
    std::int64_t run = 1; ///< neighbouring elements
};

std::optional<Nest> nest_of(const Piece& piece, std::int64_t columns, Bytes element_bytes) {
    Nest nest;
    std::vector<PieceDim> dims = piece.dims;
    std::ranges::sort(dims, {}, &PieceDim::host_stride);
    for (const PieceDim& dim : dims) {
        if (dim.count == 1) {
        } else if (dim.host_stride == nest.run && dim.tile_stride == nest.run * element_bytes) {
            nest.run *= dim.count;
        } else if (dim.host_stride == columns && nest.rows == 1) {
            nest.rows = dim.count;
            nest.row_stride = dim.tile_stride;
        } else if (dim.host_stride % columns != 0 &&
                   (dim.host_stride < nest.run || nest.run == 1)) {
            return std::nullopt;
        } else {
            nest.between.push_back(dim);
        }
    }
    return nest;
}

/// A run from element `at` on, which may go over the ends of rows.
void add_run(std::vector<Block>& blocks, const Piece& piece, Place place, std::int64_t at,
             std::int64_t run, std::int64_t columns, Bytes element_bytes) {
    while (run > 0) {
        const std::int64_t column = at % columns;
        const bool whole = column == 0 && run >= columns;
        const std::int64_t rows = whole ? run / columns : 1;
        const std::int64_t here = whole ? columns : std::min(run, columns - column);
        blocks.push_back(
            {piece.tile, place, columns * element_bytes, at / columns, rows, column, here});
        place = place + rows * here * element_bytes;
        at += rows * here;
        run -= rows * here;
    }
}

} // namespace

std::optional<std::vector<Block>> blocks_of(const Tensor& tensor) {
    TESSERA_ASSERT(tensor.shape.size() > 1);
    const std::int64_t columns = tensor.shape.back();
    const Bytes element_bytes = bytes_of(tensor.type);
    std::vector<Block> blocks;
    for (const Piece& piece : tensor.pieces) {
        const auto nest = nest_of(piece, columns, element_bytes);
        if (!nest) {
            return std::nullopt;
        }
        const auto add = [&](const auto& self, std::size_t depth, Place place,
                             std::int64_t at) -> void {
            if (depth < nest->between.size()) {
                const PieceDim& dim = nest->between[depth];
                for (std::int64_t i = 0; i < dim.count; ++i) {
                    self(self, depth + 1, place + i * dim.tile_stride, at + i * dim.host_stride);
                }
            } else if (at % columns + nest->run <= columns) {
                blocks.push_back({piece.tile, place, nest->row_stride, at / columns, nest->rows,
                                  at % columns, nest->run});
            } else {
                for (std::int64_t row = 0; row < nest->rows; ++row) {
                    add_run(blocks, piece, place + row * nest->row_stride, at + row * columns,
                            nest->run, columns, element_bytes);
                }
            }
        };
        add(add, 0, piece.place, piece.host_offset);
    }
    return blocks;
}

} // namespace tessera::graph
