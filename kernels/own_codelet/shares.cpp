// SPDX-License-Identifier: MIT
#include "kernels/own_codelet/shares.h"

#include <algorithm>
#include <set>
#include <utility>

namespace tessera::own_codelet {
namespace {

constexpr Bytes kWide = 8; // that memory is read and written in

constexpr Bytes whole(Bytes bytes) {
    return (bytes + kWide - 1) / kWide * kWide;
}

std::int64_t elements_of(const graph::Tensor& tensor) {
    std::int64_t elements = 1;
    for (const std::int64_t size : tensor.shape) {
        elements *= size;
    }
    return elements;
}

/// Neighbouring elements, which stand behind each other.
bool is_run(const graph::Piece& piece, Bytes element_bytes) {
    return piece.dims.size() == 1 && piece.dims[0].host_stride == 1 &&
           piece.dims[0].tile_stride == element_bytes;
}

/// In the order of the elements; none where they do not stand in one run a tile.
std::vector<const graph::Piece*> runs_of(const graph::Tensor& tensor) {
    std::vector<const graph::Piece*> runs;
    std::set<TileId> tiles;
    for (const graph::Piece& piece : tensor.pieces) {
        if (!is_run(piece, bytes_of(tensor.type)) || !tiles.insert(piece.tile).second) {
            return {};
        }
        runs.push_back(&piece);
    }
    std::ranges::sort(runs, {}, &graph::Piece::host_offset);
    std::int64_t next = 0;
    for (const graph::Piece* run : runs) {
        if (run->host_offset != next) {
            return {};
        }
        next += run->dims[0].count;
    }
    return next == elements_of(tensor) ? runs : std::vector<const graph::Piece*>{};
}

bool fits(const graph::Buffer& buffer, const graph::Piece& run, const Room& room) {
    const bool aligned =
        buffer.alignment % room.alignment == 0 || room.alignment % buffer.alignment == 0;
    const bool in_region = room.where == graph::Where::Any || buffer.where == room.where ||
                           buffer.where == graph::Where::Any;
    return room.before == 0 && aligned && in_region && run.place.offset % room.alignment == 0 &&
           run.place.offset % kWide == 0;
}

} // namespace

Shares even_shares(graph::TileRange tiles, std::int64_t units, std::int64_t grain) {
    const std::int64_t grains = (units + grain - 1) / grain;
    Shares shares;
    for (std::int64_t i = 0; i < tiles.count; ++i) {
        const std::int64_t first = grains * i / tiles.count * grain;
        const std::int64_t end = std::min(grains * (i + 1) / tiles.count * grain, units);
        if (first < end) {
            shares.push_back({tiles.first + static_cast<TileId>(i), first, end - first});
        }
    }
    return shares;
}

std::optional<Shares> shares_of(const graph::Tensor& tensor, std::int64_t unit_elements) {
    Shares shares;
    for (const graph::Piece* run : runs_of(tensor)) {
        const std::int64_t count = run->dims[0].count;
        if (run->host_offset % unit_elements != 0 || count % unit_elements != 0) {
            return std::nullopt;
        }
        shares.push_back({run->tile, run->host_offset / unit_elements, count / unit_elements});
    }
    return shares.empty() ? std::nullopt : std::optional(std::move(shares));
}

graph::BufferId add_room(graph::Graph& graph, const Room& room, program::SegmentKind kind) {
    return graph.add_buffer({.name = room.name,
                             .kind = kind,
                             .alignment = std::max(room.alignment, kWide),
                             .where = room.where,
                             .read_beyond = room.behind});
}

std::optional<Standing> standing_as(graph::Graph& graph, graph::TensorId tensor,
                                    const Shares& shares, std::int64_t unit_elements,
                                    const Room& room) {
    const auto runs = runs_of(graph.tensors.at(tensor.index));
    Standing standing{tensor, {}};
    for (std::size_t i = 0; i < runs.size() && i < shares.size(); ++i) {
        const bool stands = runs[i]->tile == shares[i].tile &&
                            runs[i]->host_offset == shares[i].first * unit_elements &&
                            runs[i]->dims[0].count == shares[i].units * unit_elements;
        if (!stands || !fits(graph.buffers.at(runs[i]->place.buffer.index), *runs[i], room)) {
            return std::nullopt;
        }
        standing.places.push_back(runs[i]->place);
    }
    if (runs.size() != shares.size()) {
        return std::nullopt;
    }
    for (const graph::Place& place : standing.places) {
        graph::Buffer& buffer = graph.buffers[place.buffer.index];
        buffer.alignment = std::max(buffer.alignment, room.alignment);
        buffer.read_beyond = std::max(buffer.read_beyond, room.behind);
        buffer.where = room.where == graph::Where::Any ? buffer.where : room.where;
    }
    return standing;
}

Standing add_split(graph::Graph& graph, graph::Tensor tensor, const Shares& shares,
                   std::int64_t unit_elements, const Room& room) {
    const graph::BufferId buffer = add_room(graph, room);
    Standing standing;
    for (const Share& share : shares) {
        const std::int64_t elements = share.units * unit_elements;
        graph.hold(buffer, share.tile, room.before + whole(elements * bytes_of(tensor.type)));
        standing.places.push_back({buffer, room.before});
        tensor.pieces.push_back(graph::run_of(share.tile, standing.places.back(),
                                              share.first * unit_elements, elements, tensor.type));
    }
    standing.tensor = graph.add_tensor(std::move(tensor));
    return standing;
}

Standing add_whole(graph::Graph& graph, graph::Tensor tensor, const Shares& shares,
                   const Room& room) {
    const graph::BufferId buffer = add_room(graph, room);
    const std::int64_t elements = elements_of(tensor);
    Standing standing;
    for (const Share& share : shares) {
        graph.hold(buffer, share.tile, room.before + whole(elements * bytes_of(tensor.type)));
        standing.places.push_back({buffer, room.before});
        tensor.pieces.push_back(
            graph::run_of(share.tile, standing.places.back(), 0, elements, tensor.type));
    }
    standing.tensor = graph.add_tensor(std::move(tensor));
    return standing;
}

} // namespace tessera::own_codelet
