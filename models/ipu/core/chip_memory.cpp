// SPDX-License-Identifier: MIT
#include "models/ipu/core/chip_memory.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::ipu {
namespace {

std::vector<std::size_t> begins_of(const std::vector<Bytes>& bytes) {
    std::vector<std::size_t> begins{0};
    for (const Bytes of_tile : bytes) {
        begins.push_back(begins.back() + ZeroPages::whole_pages(static_cast<std::size_t>(of_tile)));
    }
    return begins;
}

/// How far what a program names reaches.
class Reach {
public:
    explicit Reach(const spec::MachineSpec& spec)
        : bytes(static_cast<std::size_t>(spec.chip.tiles)), memory_(spec.memory) {}

    std::vector<Bytes> bytes; ///< by tile

    void to(TileId tile, Address address, Bytes of) {
        const Bytes end = static_cast<Bytes>(address) - memory_.region0_begin() + of;
        if (tile < bytes.size()) { // what is outside is refused where it is used
            bytes[tile] = std::clamp(end, bytes[tile], memory_.bytes());
        }
    }
    void to(const program::Tensor& tensor) {
        for (const program::Piece& piece : tensor.pieces) {
            Bytes of = tessera::bytes_of(tensor.type);
            for (const program::PieceDim& dim : piece.dims) {
                of += std::max<Bytes>(0, (dim.count - 1) * dim.tile_stride);
            }
            to(piece.tile, piece.address, of);
        }
    }
    void to(const program::Exchange& exchange) {
        for (const program::Transfer& transfer : exchange.transfers) {
            to(transfer.source_tile, transfer.source_address, transfer.bytes);
            for (const program::Destination& destination : transfer.destinations) {
                to(destination.tile, destination.address, transfer.bytes);
            }
        }
    }
    void to(const program::Step& step) {
        if (step.value) {
            to(step.value->tile, step.value->address, 4);
        }
        for (const program::TileValue& word : step.rounds) {
            to(word.tile, word.address, 4);
        }
        for (const program::Step& child : step.children) {
            to(child);
        }
    }

private:
    const spec::MemorySpec& memory_;
};

} // namespace

std::vector<Bytes> named_bytes(const spec::MachineSpec& spec, const program::Program& program) {
    Reach reach(spec);
    for (TileId tile = 0; tile < program.image_of_tile.size(); ++tile) {
        const std::uint32_t image = program.image_of_tile[tile];
        if (image != program::Program::kNoImage) {
            for (const program::Segment& segment : program.images.at(image).segments) {
                reach.to(tile, segment.address, segment.bytes);
            }
        }
    }
    for (const program::Tensor& tensor : program.tensors) {
        reach.to(tensor);
    }
    for (const program::Exchange& exchange : program.exchanges) {
        reach.to(exchange);
    }
    for (const program::StreamCopy& copy : program.stream_copies) {
        for (const program::StreamPiece& piece : copy.pieces) {
            reach.to(piece.tile, piece.address, piece.bytes);
        }
    }
    reach.to(program.control);
    for (const program::Function& function : program.functions) {
        reach.to(function.body);
    }
    return std::move(reach.bytes);
}

ChipMemory::ChipMemory(const spec::MachineSpec& spec)
    : ChipMemory(spec, std::vector<Bytes>(static_cast<std::size_t>(spec.chip.tiles),
                                          spec.memory.bytes())) {}

ChipMemory::ChipMemory(const spec::MachineSpec& spec, std::vector<Bytes> bytes)
    : base_(spec.memory.region0_begin()), bytes_(std::move(bytes)), begin_(begins_of(bytes_)),
      pages_(begin_.back()) {}

std::byte* ChipMemory::at(TileId tile, Address address, Bytes bytes) const {
    const Bytes offset = static_cast<Bytes>(address) - static_cast<Bytes>(base_);
    if (tile >= bytes_.size() || offset < 0 || bytes < 0 || bytes > bytes_[tile] - offset) {
        throw ProgramError(fmt::format(
            "tile_{}: got {} bytes at {:#x}, expected them inside tile memory [{:#x}, {:#x}) of {} "
            "tiles",
            tile, bytes, address, base_,
            static_cast<Bytes>(base_) + (tile < bytes_.size() ? bytes_[tile] : 0), bytes_.size()));
    }
    return of_tile(tile) + offset;
}

} // namespace tessera::ipu
