// SPDX-License-Identifier: MIT
#include "kernels/graph/rows.h"

#include "base/error.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

namespace tessera::graph {
namespace {

using program::PieceDim;

/// Rows [first, first + rows) of each tile.
std::vector<RowBlock> deal(std::int64_t rows, TileRange tiles) {
    std::vector<RowBlock> blocks;
    std::int64_t first = 0;
    for (std::int64_t tile = 0; first < rows; ++tile) {
        RowBlock block;
        block.tile = tiles.first + static_cast<TileId>(tile);
        block.first_row = first;
        block.rows = rows / tiles.count + (tile < rows % tiles.count ? 1 : 0);
        first += block.rows;
        blocks.push_back(block);
    }
    return blocks;
}

Bytes padded(Bytes bytes) {
    return (bytes + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
}

/// A tensor of one size has an element a row.
std::int64_t rows_in(const std::vector<std::int64_t>& shape) {
    const auto last = shape.end() - (shape.size() > 1 ? 1 : 0);
    return std::accumulate(shape.begin(), last, std::int64_t{1}, std::multiplies<>());
}

Piece piece_of(const RowBlock& block, std::int64_t columns, Bytes element_bytes) {
    Piece piece{block.tile, block.place, block.first_row * columns, {}};
    piece.dims.push_back({block.rows, block.row_stride * columns, block.step});
    if (columns > 1) {
        piece.dims.push_back({columns, 1, element_bytes});
    }
    return piece;
}

/// The nest's loops without those of one round, the smallest step of the host first.
std::vector<PieceDim> by_host_stride(const std::vector<PieceDim>& dims) {
    std::vector<PieceDim> sorted;
    std::copy_if(dims.begin(), dims.end(), std::back_inserter(sorted),
                 [](const PieceDim& dim) { return dim.count != 1; });
    std::ranges::sort(sorted, {}, &PieceDim::host_stride);
    return sorted;
}

/// Reads pieces as blocks of rows.
class RowReader {
public:
    RowReader(const Graph& graph, const Tensor& tensor, Bytes alignment)
        : graph_(graph), alignment_(alignment), element_(bytes_of(tensor.type)),
          columns_(tensor.shape.back()), seen_(static_cast<std::size_t>(rows_in(tensor.shape))) {}

    /// False where the piece is not whole rows.
    bool read(const Piece& piece) {
        if (std::any_of(piece.dims.begin(), piece.dims.end(),
                        [](const auto& dim) { return dim.count < 1; })) {
            return true; // no elements
        }
        std::vector<PieceDim> dims = by_host_stride(piece.dims);
        // elements that stand together: a row, or several
        std::int64_t together = 1;
        auto dim = dims.begin();
        while (dim != dims.end() && dim->host_stride == together &&
               dim->tile_stride == together * element_) {
            together *= dim->count;
            ++dim;
        }
        const bool whole = together % columns_ == 0 && piece.host_offset % columns_ == 0 &&
                           std::all_of(dim, dims.end(), [&](const PieceDim& outer) {
                               return outer.host_stride > 0 && outer.host_stride % columns_ == 0;
                           });
        if (!whole) {
            return false;
        }
        dims.erase(dims.begin(), dim);
        if (together > columns_) {
            dims.insert(dims.begin(), {together / columns_, columns_, columns_ * element_});
        }
        RowBlock block{piece.tile, piece.place, piece.host_offset / columns_,
                       1,          1,           columns_ * element_};
        if (!dims.empty()) {
            block.rows = dims.front().count;
            block.row_stride = dims.front().host_stride / columns_;
            block.step = dims.front().tile_stride;
            dims.erase(dims.begin());
        }
        return add(block, dims);
    }

    /// Nothing where rows are missing.
    [[nodiscard]] std::optional<std::vector<RowBlock>> finish() && {
        if (rows_seen_ != seen_.size()) {
            return std::nullopt;
        }
        return std::move(blocks_);
    }

private:
    /// The block, once for every round of the outer loops.
    bool add(const RowBlock& block, std::vector<PieceDim> outer) {
        if (outer.empty()) {
            return add(block);
        }
        const PieceDim last = outer.back();
        outer.pop_back();
        for (std::int64_t i = 0; i < last.count; ++i) {
            RowBlock shifted = block;
            shifted.first_row += i * last.host_stride / columns_;
            shifted.place = block.place + i * last.tile_stride;
            if (!add(shifted, outer)) {
                return false;
            }
        }
        return true;
    }
    bool add(const RowBlock& block) {
        const Bytes of_buffer = graph_.buffers.at(block.place.buffer.index).alignment;
        if (of_buffer % alignment_ != 0 || block.place.offset % alignment_ != 0 ||
            (block.rows > 1 &&
             (block.step % alignment_ != 0 || block.step < columns_ * element_))) {
            return false;
        }
        std::size_t known = 0;
        for (std::int64_t i = 0; i < block.rows; ++i) {
            known += seen_.at(row_of(block, i)) ? 1 : 0;
        }
        if (known != 0) {
            return known == static_cast<std::size_t>(block.rows); // they have another place
        }
        for (std::int64_t i = 0; i < block.rows; ++i) {
            seen_[row_of(block, i)] = true;
        }
        rows_seen_ += static_cast<std::size_t>(block.rows);
        blocks_.push_back(block);
        return true;
    }
    [[nodiscard]] static std::size_t row_of(const RowBlock& block, std::int64_t i) {
        return static_cast<std::size_t>(block.first_row + i * block.row_stride);
    }

    const Graph& graph_;
    Bytes alignment_;
    Bytes element_;
    std::int64_t columns_;
    std::vector<bool> seen_; ///< by row
    std::size_t rows_seen_ = 0;
    std::vector<RowBlock> blocks_;
};

} // namespace

InRows add_rows(Graph& graph, Tensor tensor, TileRange tiles) {
    TESSERA_ASSERT(tiles.count > 0);
    const auto blocks = deal(rows_in(tensor.shape), tiles);
    return add_rows_beside(graph, std::move(tensor), blocks);
}

InRows add_rows_beside(Graph& graph, Tensor tensor, std::span<const RowBlock> beside) {
    TESSERA_ASSERT(tensor.pieces.empty() && !tensor.shape.empty());
    const bool is_matrix = tensor.shape.size() > 1;
    const std::int64_t columns = is_matrix ? tensor.shape.back() : 1;
    const Bytes element = bytes_of(tensor.type);
    Buffer traits{.name = tensor.name};
    InRows made;
    std::map<TileId, Bytes> held;
    for (const RowBlock& rows : beside) {
        RowBlock block = rows;
        block.step = is_matrix ? padded(columns * element) : element;
        const Bytes bytes = padded(block.rows * block.step);
        traits.zeroed = traits.zeroed || bytes != block.rows * block.step;
        block.place.offset = std::exchange(held[block.tile], held[block.tile] + bytes);
        made.blocks.push_back(block);
    }
    const BufferId buffer = graph.add_buffer(std::move(traits));
    for (RowBlock& block : made.blocks) {
        block.place.buffer = buffer;
        tensor.pieces.push_back(piece_of(block, columns, element));
    }
    for (const auto& [tile, bytes] : held) {
        graph.hold(buffer, tile, bytes);
    }
    made.tensor = graph.add_tensor(std::move(tensor));
    return made;
}

std::optional<std::vector<RowBlock>> rows_of(const Graph& graph, TensorId tensor, Bytes alignment,
                                             TileRange tiles) {
    const Tensor& matrix = graph.tensors.at(tensor.index);
    TESSERA_ASSERT(matrix.shape.size() > 1);
    RowReader reader(graph, matrix, alignment);
    for (const Piece& piece : matrix.pieces) {
        if (!tiles.has(piece.tile) || !reader.read(piece)) {
            return std::nullopt;
        }
    }
    return std::move(reader).finish();
}

InRows in_rows(Graph& graph, std::optional<TensorId> offered, Tensor otherwise, Bytes alignment,
               TileRange tiles) {
    if (offered) {
        auto blocks = rows_of(graph, *offered, alignment, tiles);
        if (blocks) {
            return {*offered, std::move(*blocks)};
        }
    }
    return add_rows(graph, std::move(otherwise), tiles);
}

void add_row_reads(std::vector<Field>& state, const RowBlock& block, Bytes row_bytes) {
    if (block.rows == 1 || block.step == row_bytes) {
        state.push_back(read(block.place, block.rows * row_bytes));
        return;
    }
    state.push_back(read(block.place, row_bytes));
    for (std::int64_t row = 1; row < block.rows; ++row) {
        state.push_back(use(block.place + row * block.step, row_bytes, Access::Read));
    }
}

} // namespace tessera::graph
