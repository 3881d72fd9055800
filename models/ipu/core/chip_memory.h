// SPDX-License-Identifier: MIT
// The SRAM of all tiles of a chip in one anonymous mapping: pages that no tile touches cost
// nothing.
#pragma once

#include "base/units.h"
#include "base/zero_pages.h"
#include "models/program/tile_memory.h"
#include "models/spec/machine_spec.h"

#include <cstddef>

namespace tessera::ipu {

/// Zero-filled, page-aligned for each tile.
class ChipMemory final : public program::TileMemory {
public:
    /// @throws std::bad_alloc if the address space cannot be had.
    explicit ChipMemory(const spec::MachineSpec& spec);

    /// First byte of a tile's memory, which stands for spec.memory.base.
    [[nodiscard]] std::byte* of_tile(TileId tile) const {
        return pages_.begin() + tile * stride_bytes_;
    }

    [[nodiscard]] std::byte* at(TileId tile, Address address, Bytes bytes) const override;

private:
    std::size_t stride_bytes_;
    TileId tiles_;
    Address base_;
    Bytes tile_bytes_;
    ZeroPages pages_;
};

} // namespace tessera::ipu
