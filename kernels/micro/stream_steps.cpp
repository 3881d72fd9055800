// SPDX-License-Identifier: MIT
#include "kernels/micro/stream_steps.h"

#include "base/host_memory.h"

#include <cstring>
#include <numeric>
#include <utility>

namespace tessera::micro {

std::vector<graph::StreamPiece> spread_over(Bytes bytes, TileId first, std::int64_t tiles,
                                            graph::BufferId buffer, Bytes request_bytes) {
    std::vector<graph::StreamPiece> pieces;
    const Bytes unit = bytes % request_bytes == 0 && request_bytes % 4 == 0 ? request_bytes : 4;
    std::int64_t done = 0;
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
        const std::int64_t end = bytes / unit * (tile + 1) / tiles;
        if (end > done) {
            pieces.push_back(
                {first + static_cast<TileId>(tile), {buffer}, unit * (end - done), unit * done});
        }
        done = end;
    }
    return pieces;
}

graph::Tensor tensor_of(const std::string& name, const std::vector<graph::StreamPiece>& pieces) {
    auto tensor = graph::array_tensor(name, ElementType::F32, 0);
    for (const auto& piece : pieces) {
        tensor.pieces.push_back(graph::run_of(piece.tile, piece.place, piece.offset / 4,
                                              piece.bytes / 4, ElementType::F32));
        tensor.shape.front() += piece.bytes / 4;
    }
    return tensor;
}

void need_memory_of_buffers(const std::vector<Bytes>& sizes, const std::string& what) {
    need_host_memory(2 * std::accumulate(sizes.begin(), sizes.end(), 0.0), what);
}

std::vector<std::byte> marked_bytes(Bytes bytes, std::uint32_t salt) {
    std::vector<std::byte> marked(static_cast<std::size_t>(bytes));
    for (std::size_t word = 0; word < marked.size() / 4; ++word) {
        const std::uint32_t value = (static_cast<std::uint32_t>(word) + salt) * 2654435761U;
        std::memcpy(marked.data() + 4 * word, &value, 4);
    }
    return marked;
}

} // namespace tessera::micro
