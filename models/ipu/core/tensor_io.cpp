// SPDX-License-Identifier: MIT
#include "models/ipu/core/tensor_io.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tessera::ipu {
namespace {

constexpr std::int64_t kWordBytes = 4;

/// The lowest and one past the highest host element and tile byte that a piece touches.
struct Extent {
    std::int64_t host_begin = 0;
    std::int64_t host_end = 0;
    std::int64_t tile_begin = 0;
    std::int64_t tile_end = 0;
    bool empty = false;
};

Extent extent_of(const program::Piece& piece, Bytes element_bytes) {
    Extent extent{piece.host_offset, piece.host_offset + 1,
                  static_cast<std::int64_t>(piece.address),
                  static_cast<std::int64_t>(piece.address) + element_bytes, false};
    for (const auto& dim : piece.dims) {
        if (dim.count <= 0) {
            extent.empty = true;
            return extent;
        }
        const std::int64_t host = (dim.count - 1) * dim.host_stride;
        const std::int64_t tile = (dim.count - 1) * dim.tile_stride;
        (host < 0 ? extent.host_begin : extent.host_end) += host;
        (tile < 0 ? extent.tile_begin : extent.tile_end) += tile;
    }
    return extent;
}

/// Calls `move(host element, byte offset from the piece's address, elements)` for runs that
/// are contiguous on both sides.
template <class Move>
void for_runs(std::span<const program::PieceDim> dims, std::int64_t host, std::int64_t tile,
              Bytes element_bytes, const Move& move) {
    if (dims.empty()) {
        move(host, tile, std::int64_t{1});
        return;
    }
    const auto& dim = dims.front();
    if (dims.size() == 1 && dim.host_stride == 1 && dim.tile_stride == element_bytes) {
        move(host, tile, dim.count);
        return;
    }
    for (std::int64_t i = 0; i < dim.count; ++i) {
        for_runs(dims.subspan(1), host + i * dim.host_stride, tile + i * dim.tile_stride,
                 element_bytes, move);
    }
}

template <class Move>
void for_pieces(const program::Tensor& tensor, std::size_t host_bytes, const ChipMemory& memory,
                const Move& move) {
    const Bytes element_bytes = bytes_of(tensor.type);
    const std::int64_t elements = elements_of(tensor);
    if (static_cast<Bytes>(host_bytes) != elements * element_bytes) {
        throw ProgramError(fmt::format("tensor {}: got {} bytes, expected {} elements of {} bytes",
                                       tensor.name, host_bytes, elements, element_bytes));
    }
    for (const auto& piece : tensor.pieces) {
        const Extent extent = extent_of(piece, element_bytes);
        if (extent.empty) {
            continue;
        }
        if (extent.host_begin < 0 || extent.host_end > elements || extent.tile_begin < 0) {
            throw ProgramError(fmt::format("tensor {}: a piece on tile_{} holds elements [{}, {}), "
                                           "expected them inside [0, {})",
                                           tensor.name, piece.tile, extent.host_begin,
                                           extent.host_end, elements));
        }
        std::byte* base = memory.at(piece.tile, static_cast<Address>(extent.tile_begin),
                                    extent.tile_end - extent.tile_begin) +
                          (static_cast<std::int64_t>(piece.address) - extent.tile_begin);
        for_runs(piece.dims, piece.host_offset, 0, element_bytes,
                 [&](std::int64_t host, std::int64_t offset, std::int64_t run_elements) {
                     move(static_cast<std::size_t>(host * element_bytes), base + offset,
                          static_cast<std::size_t>(run_elements * element_bytes));
                 });
    }
}

/// A copy whose frequent small sizes compile to one load and store.
void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes == 2) {
        std::memcpy(to, from, 2);
    } else if (bytes == 4) {
        std::memcpy(to, from, 4);
    } else {
        std::memcpy(to, from, bytes);
    }
}

} // namespace

std::int64_t elements_of(const program::Tensor& tensor) {
    std::int64_t elements = 1;
    for (const auto extent : tensor.shape) {
        elements *= extent;
    }
    return elements;
}

void write_tensor(const program::Tensor& tensor, std::span<const std::byte> host,
                  ChipMemory& memory) {
    for_pieces(tensor, host.size(), memory,
               [&](std::size_t offset, std::byte* in_tile, std::size_t bytes) {
                   copy_bytes(in_tile, host.data() + offset, bytes);
               });
}

void learn_tensor(const program::Tensor& tensor, program::KnownWords& known) {
    const Bytes element_bytes = bytes_of(tensor.type);
    for (const auto& piece : tensor.pieces) {
        for_runs(piece.dims, 0, piece.address, element_bytes,
                 [&](std::int64_t /*host*/, std::int64_t address, std::int64_t run_elements) {
                     const std::int64_t begin = address / kWordBytes * kWordBytes;
                     const std::int64_t end = address + run_elements * element_bytes;
                     const std::int64_t words = (end - begin + kWordBytes - 1) / kWordBytes;
                     known.write(piece.tile, static_cast<Address>(begin), words * kWordBytes);
                 });
    }
}

void read_tensor(const program::Tensor& tensor, const ChipMemory& memory,
                 std::span<std::byte> host) {
    for_pieces(tensor, host.size(), memory,
               [&](std::size_t offset, std::byte* in_tile, std::size_t bytes) {
                   copy_bytes(host.data() + offset, in_tile, bytes);
               });
}

} // namespace tessera::ipu
