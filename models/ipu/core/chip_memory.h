// SPDX-License-Identifier: MIT
// The SRAM of all tiles of a chip in one anonymous mapping: pages that no tile touches cost nothing
// but addresses. Where those are limited, a tile has what its program names and no more.
#pragma once

#include "base/units.h"
#include "base/zero_pages.h"
#include "models/program/program.h"
#include "models/program/tile_memory.h"
#include "models/spec/machine_spec.h"

#include <cstddef>
#include <vector>

namespace tessera::ipu {

/// By tile, how far from the begin of its memory a program's segments, tensors, transfers, stream
/// copies and values reach.
[[nodiscard]] std::vector<Bytes> named_bytes(const spec::MachineSpec& spec,
                                             const program::Program& program);

/// Zero-filled, page-aligned for each tile.
class ChipMemory final : public program::TileMemory {
public:
    /// @throws std::bad_alloc if the address space cannot be had.
    explicit ChipMemory(const spec::MachineSpec& spec);
    /// Each tile has the first `bytes` of its memory.
    ChipMemory(const spec::MachineSpec& spec, std::vector<Bytes> bytes);

    /// First byte of a tile's memory, which stands for spec.memory.base.
    [[nodiscard]] std::byte* of_tile(TileId tile) const { return pages_.begin() + begin_[tile]; }
    [[nodiscard]] Bytes bytes_of_tile(TileId tile) const { return bytes_[tile]; }

    [[nodiscard]] std::byte* at(TileId tile, Address address, Bytes bytes) const override;

private:
    Address base_;
    std::vector<Bytes> bytes_;       ///< by tile
    std::vector<std::size_t> begin_; ///< in the pages, by tile; then the end of the last
    ZeroPages pages_;
};

} // namespace tessera::ipu
