// SPDX-License-Identifier: MIT
// The SRAM of all tiles of a chip in one anonymous mapping: pages that no tile touches cost
// nothing.
#pragma once

#include "base/units.h"
#include "models/spec/machine_spec.h"

#include <cstddef>

namespace tessera::ipu {

/// Zero-filled, page-aligned for each tile.
class ChipMemory {
public:
    /// @throws std::bad_alloc if the address space cannot be had.
    explicit ChipMemory(const spec::MachineSpec& spec);
    ~ChipMemory();
    ChipMemory(const ChipMemory&) = delete;
    ChipMemory& operator=(const ChipMemory&) = delete;

    /// First byte of a tile's memory, which stands for spec.memory.base.
    [[nodiscard]] std::byte* of_tile(TileId tile) const { return begin_ + tile * stride_bytes_; }

    /// Host bytes of [address, address + bytes) of `tile`. @throws ProgramError outside memory.
    [[nodiscard]] std::byte* at(TileId tile, Address address, Bytes bytes) const;

private:
    std::size_t stride_bytes_;
    std::size_t mapped_bytes_;
    TileId tiles_;
    Address base_;
    Bytes tile_bytes_;
    std::byte* begin_;
};

} // namespace tessera::ipu
