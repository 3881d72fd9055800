// SPDX-License-Identifier: MIT
#include "kernels/graph/places.h"

#include "base/error.h"

#include <algorithm>
#include <utility>

namespace tessera::graph {
namespace {

constexpr Bytes kWide = 8;

constexpr Bytes whole(Bytes bytes) {
    return (bytes + kWide - 1) / kWide * kWide;
}

/// First byte behind the piece.
Bytes end_of(const Piece& piece, Bytes element_bytes) {
    Bytes end = piece.place.offset + element_bytes;
    for (const program::PieceDim& dim : piece.dims) {
        end += std::max<Bytes>(0, (dim.count - 1) * dim.tile_stride);
    }
    return end;
}

} // namespace

bool is_on(const Tiles& tiles, const Tensor& tensor) {
    return std::all_of(tensor.pieces.begin(), tensor.pieces.end(), [&](const Piece& piece) {
        return piece.tile >= tiles.first && piece.tile - tiles.first < tiles.count;
    });
}

std::optional<BufferPairs> alike(const Tensor& one, const Tensor& other) {
    const Bytes from = bytes_of(one.type);
    const Bytes to = bytes_of(other.type);
    const auto same_dim = [&](const program::PieceDim& left, const program::PieceDim& right) {
        return left.count == right.count && left.host_stride == right.host_stride &&
               left.tile_stride * to == right.tile_stride * from;
    };
    BufferPairs pairs;
    const auto same_piece = [&](const Piece& left, const Piece& right) {
        const auto pair = pairs.emplace(left.place.buffer.index, right.place.buffer).first;
        return left.tile == right.tile && left.host_offset == right.host_offset &&
               left.place.offset * to == right.place.offset * from &&
               pair->second == right.place.buffer &&
               std::equal(left.dims.begin(), left.dims.end(), right.dims.begin(), right.dims.end(),
                          same_dim);
    };
    const bool same = std::equal(one.pieces.begin(), one.pieces.end(), other.pieces.begin(),
                                 other.pieces.end(), same_piece);
    return same ? std::optional(std::move(pairs)) : std::nullopt;
}

TensorId add_alike(Graph& graph, const std::string& name, ElementType type, TensorId model) {
    Tensor made = graph.tensors.at(model.index);
    const Bytes from = bytes_of(made.type);
    const Bytes to = bytes_of(type);
    made.name = name;
    made.type = type;
    made.given = made.wanted = false;
    BufferPairs pairs;
    std::map<std::pair<TileId, std::uint32_t>, Bytes> ends; // by buffer of the new tensor
    for (Piece& piece : made.pieces) {
        const auto [pair, added] = pairs.try_emplace(piece.place.buffer.index);
        if (added) {
            pair->second = graph.add_buffer({.name = name});
        }
        Bytes& end = ends[{piece.tile, pair->second.index}];
        end = std::max(end, whole(end_of(piece, from)) * to / from);
        piece.place = {pair->second, piece.place.offset * to / from};
        for (program::PieceDim& dim : piece.dims) {
            dim.tile_stride = dim.tile_stride * to / from;
        }
    }
    for (const auto& [key, end] : ends) {
        graph.hold(BufferId{key.second}, key.first, end);
    }
    return graph.add_tensor(std::move(made));
}

TensorId add_spread(Graph& graph, const Tiles& tiles, Tensor made, std::int64_t row_elements) {
    std::int64_t elements = 1;
    for (const std::int64_t size : made.shape) {
        elements *= size;
    }
    const Bytes element_bytes = bytes_of(made.type);
    const Bytes row_bytes = whole(row_elements * element_bytes);
    const bool dense = row_bytes == row_elements * element_bytes;
    TESSERA_ASSERT(dense || elements % row_elements == 0);
    const std::int64_t rows = (elements + row_elements - 1) / row_elements;
    const BufferId buffer = graph.add_buffer({.name = made.name});
    for (std::int64_t i = 0; i < tiles.count; ++i) {
        const TileId tile = tiles.first + static_cast<TileId>(i);
        const std::int64_t first = rows * i / tiles.count;
        const std::int64_t last = rows * (i + 1) / tiles.count;
        const std::int64_t at = first * row_elements;
        const std::int64_t here = std::min(last * row_elements, elements) - at;
        if (here <= 0) {
            continue;
        }
        made.pieces.push_back(dense ? run_of(tile, {buffer}, at, here, made.type)
                                    : Piece{tile,
                                            {buffer},
                                            at,
                                            {{last - first, row_elements, row_bytes},
                                             {row_elements, 1, element_bytes}}});
        graph.hold(buffer, tile, whole(end_of(made.pieces.back(), element_bytes)));
    }
    return graph.add_tensor(std::move(made));
}

} // namespace tessera::graph
