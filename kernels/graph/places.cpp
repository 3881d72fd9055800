// SPDX-License-Identifier: MIT
#include "kernels/graph/places.h"

#include "base/error.h"

#include <algorithm>
#include <span>
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

/// Moves `at` to the element that is `distance` of the host's elements behind the first of a nest of
/// `dims`. False if the nest does not have it.
bool find_element(std::span<const program::PieceDim> dims, std::int64_t distance, Bytes& at) {
    if (dims.empty()) {
        return distance == 0;
    }
    const Bytes begin = at;
    for (std::int64_t i = 0; i < dims[0].count; ++i) {
        at = begin + i * dims[0].tile_stride;
        if (find_element(dims.subspan(1), distance - i * dims[0].host_stride, at)) {
            return true;
        }
    }
    return false;
}

} // namespace

std::optional<TilePlace> place_of(const Tensor& tensor, std::int64_t element) {
    for (const Piece& piece : tensor.pieces) {
        Bytes at = piece.place.offset;
        if (find_element(piece.dims, element - piece.host_offset, at)) {
            return TilePlace{piece.tile, {piece.place.buffer, at}};
        }
    }
    return std::nullopt;
}

bool is_on(TileRange tiles, const Tensor& tensor) {
    return std::all_of(tensor.pieces.begin(), tensor.pieces.end(),
                       [&](const Piece& piece) { return tiles.has(piece.tile); });
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
    made.given = made.wanted = made.known = false;
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

TensorId add_runs(Graph& graph, TileRange tiles, Tensor tensor, Bytes grain_bytes) {
    TESSERA_ASSERT(grain_bytes % kWide == 0);
    const Bytes element_bytes = bytes_of(tensor.type);
    std::int64_t elements = 1;
    for (const std::int64_t size : tensor.shape) {
        elements *= size;
    }
    const std::int64_t grain = grain_bytes / element_bytes;
    const std::int64_t grains = (elements + grain - 1) / grain;
    const BufferId buffer = graph.add_buffer({.name = tensor.name});
    for (std::int64_t i = 0; i < tiles.count; ++i) {
        const std::int64_t first = grains * i / tiles.count * grain;
        const std::int64_t last = std::min(grains * (i + 1) / tiles.count * grain, elements);
        if (first < last) {
            const TileId tile = tiles.first + static_cast<TileId>(i);
            graph.hold(buffer, tile, whole((last - first) * element_bytes));
            tensor.pieces.push_back(run_of(tile, {buffer}, first, last - first, tensor.type));
        }
    }
    return graph.add_tensor(std::move(tensor));
}

} // namespace tessera::graph
