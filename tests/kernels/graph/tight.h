// SPDX-License-Identifier: MIT
// Checks that a graph holds no more memory than its steps use.
#pragma once

#include "kernels/lower/uses.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace tessera::test {

/// Returns the buffers of which every tile holds a unit or more behind the last byte that it uses,
/// with the least number of bytes that a tile holds there. Buffers are held in units of 16 bytes.
inline std::vector<std::string> loose_buffers(const graph::Graph& graph) {
    constexpr Bytes kUnit = 16;
    const lower::Uses uses(graph);
    std::vector<std::string> loose;
    for (std::uint32_t index = 0; index < graph.buffers.size(); ++index) {
        std::map<TileId, Bytes> ends;
        for (const lower::UsesOnTile& here : uses.of(graph::BufferId{index})) {
            for (const lower::Use& use : uses.of(here)) {
                ends[here.tile] = std::max<Bytes>(ends[here.tile], use.end);
            }
        }
        for (const graph::Tensor& tensor : graph.tensors) {
            for (const graph::Piece& piece : tensor.pieces) {
                if (piece.place.buffer.index == index) {
                    Bytes end = piece.place.offset + bytes_of(tensor.type);
                    for (const program::PieceDim& dim : piece.dims) {
                        end += std::max<Bytes>(0, (dim.count - 1) * dim.tile_stride);
                    }
                    ends[piece.tile] = std::max(ends[piece.tile], end);
                }
            }
        }
        const graph::Buffer& buffer = graph.buffers[index];
        std::vector<Bytes> left;
        for (const graph::Held& held : buffer.held) {
            left.push_back(held.bytes - ends[held.tile]);
        }
        const auto least = std::min_element(left.begin(), left.end());
        if (least != left.end() && *least >= kUnit) {
            loose.push_back(fmt::format("{}: {} bytes", buffer.name, *least));
        }
    }
    return loose;
}

} // namespace tessera::test
