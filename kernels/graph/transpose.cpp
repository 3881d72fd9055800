// SPDX-License-Identifier: MIT
#include "kernels/graph/transpose.h"

#include "base/error.h"
#include "kernels/graph/reorder.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

namespace tessera::graph {
using program::PieceDim;

std::vector<Piece> turned(const Piece& piece, std::int64_t m, std::int64_t n) {
    return reordered(piece, std::array{std::int64_t{1}, m, n}, std::array<std::size_t, 3>{0, 2, 1});
}

void transpose(Tensor& tensor) {
    const std::size_t rank = tensor.shape.size();
    TESSERA_ASSERT(rank >= 2);
    std::vector<Piece> pieces;
    for (const Piece& piece : tensor.pieces) {
        auto made = turned(piece, tensor.shape[rank - 2], tensor.shape[rank - 1]);
        std::move(made.begin(), made.end(), std::back_inserter(pieces));
    }
    tensor.pieces = std::move(pieces);
    std::swap(tensor.shape[rank - 2], tensor.shape[rank - 1]);
}

void transpose_blocks(Tensor& tensor, std::span<const std::int64_t> from) {
    const std::int64_t side = tensor.shape.back();
    const std::int64_t size = side * side;
    std::vector<Piece> pieces;
    const auto add = [&](const auto& self, Piece piece) -> void {
        const auto over_blocks = std::ranges::find_if(piece.dims, [&](const PieceDim& dim) {
            return dim.count > 1 && dim.host_stride % size == 0;
        });
        if (over_blocks == piece.dims.end()) {
            const auto block = static_cast<std::size_t>(piece.host_offset / size);
            piece.host_offset = from[block] * size + piece.host_offset % size;
            pieces.push_back(std::move(piece));
            return;
        }
        const PieceDim dim = *over_blocks;
        piece.dims.erase(over_blocks);
        for (std::int64_t i = 0; i < dim.count; ++i) {
            Piece one = piece;
            one.host_offset += i * dim.host_stride;
            one.place = one.place + i * dim.tile_stride;
            self(self, std::move(one));
        }
    };
    for (const Piece& piece : tensor.pieces) {
        for (Piece& one : turned(piece, side, side)) {
            add(add, std::move(one));
        }
    }
    tensor.pieces = std::move(pieces);
}

} // namespace tessera::graph
