// SPDX-License-Identifier: MIT
#include "kernels/graph/transpose.h"

#include "base/error.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tessera::graph {
namespace {

using program::PieceDim;

/// Turns a piece, in parts where one of its loops goes on from a row into the next.
class Turner {
public:
    Turner(std::int64_t m, std::int64_t n) : m_(m), n_(n) {}

    void add(Piece piece) {
        if (std::any_of(piece.dims.begin(), piece.dims.end(),
                        [](const PieceDim& dim) { return dim.count < 1; })) {
            return;
        }
        for (const std::int64_t row : {m_ * n_, n_}) { // a matrix, then its rows
            std::int64_t column = piece.host_offset % row;
            PieceDim* widest = nullptr; // of those that go along it
            for (PieceDim& dim : piece.dims) {
                if (dim.count == 1 || dim.host_stride % row == 0) {
                    continue;
                }
                column += (dim.count - 1) * dim.host_stride;
                if (widest == nullptr || dim.host_stride > widest->host_stride) {
                    widest = &dim;
                }
            }
            if (column >= row) {
                split(std::move(piece), *widest, row);
                return;
            }
        }
        turn(std::move(piece));
    }
    [[nodiscard]] std::vector<Piece> take() && { return std::move(made_); }

private:
    /// All of its loops go along a row or from row to row.
    void turn(Piece piece) {
        const auto now = [&](std::int64_t host) {
            const std::int64_t inside = host % (m_ * n_);
            return host - inside + inside % n_ * m_ + inside / n_;
        };
        piece.host_offset = now(piece.host_offset);
        for (PieceDim& dim : piece.dims) {
            dim.host_stride = now(dim.host_stride);
        }
        made_.push_back(std::move(piece));
    }

    /// Whole rows of a run of elements are one loop more; else the loop ends where its row does.
    void split(Piece piece, PieceDim& dim, std::int64_t row) {
        const std::int64_t column = piece.host_offset % row;
        if (dim.host_stride < row && column < dim.host_stride && row % dim.host_stride == 0) {
            const std::int64_t in_row = row / dim.host_stride;
            const std::int64_t rows = dim.count / in_row;
            if (dim.count > in_row) {
                const PieceDim whole{rows, row, in_row * dim.tile_stride};
                Piece rest = part(piece, dim, rows * in_row, dim.count - rows * in_row);
                dim.count = in_row;
                piece.dims.insert(piece.dims.begin(), whole);
                add(std::move(piece));
                add(std::move(rest));
                return;
            }
        }
        const std::int64_t first =
            std::min(dim.count - 1, std::max<std::int64_t>(1, (row - column + dim.host_stride - 1) /
                                                                  dim.host_stride));
        Piece rest = part(piece, dim, first, dim.count - first);
        dim.count = first;
        add(std::move(piece));
        add(std::move(rest));
    }
    /// Rounds [first, first + count) of one of the piece's loops.
    static Piece part(const Piece& piece, const PieceDim& dim, std::int64_t first,
                      std::int64_t count) {
        Piece made = piece;
        made.dims[static_cast<std::size_t>(&dim - piece.dims.data())].count = count;
        made.host_offset += first * dim.host_stride;
        made.place = made.place + first * dim.tile_stride;
        return made;
    }

    std::int64_t m_;
    std::int64_t n_;
    std::vector<Piece> made_;
};

} // namespace

std::vector<Piece> turned(const Piece& piece, std::int64_t m, std::int64_t n) {
    Turner turner(m, n);
    turner.add(piece);
    return std::move(turner).take();
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
