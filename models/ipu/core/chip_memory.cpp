// SPDX-License-Identifier: MIT
#include "models/ipu/core/chip_memory.h"

#include "base/error.h"

#include <fmt/format.h>

namespace tessera::ipu {

ChipMemory::ChipMemory(const spec::MachineSpec& spec)
    : stride_bytes_(ZeroPages::whole_pages(static_cast<std::size_t>(spec.memory.bytes()))),
      tiles_(static_cast<TileId>(spec.chip.tiles)), base_(spec.memory.region0_begin()),
      tile_bytes_(spec.memory.bytes()),
      pages_(stride_bytes_ * static_cast<std::size_t>(spec.chip.tiles)) {}

std::byte* ChipMemory::at(TileId tile, Address address, Bytes bytes) const {
    const Bytes offset = static_cast<Bytes>(address) - static_cast<Bytes>(base_);
    if (tile >= tiles_ || offset < 0 || bytes < 0 || bytes > tile_bytes_ - offset) {
        throw ProgramError(fmt::format("tile_{}: got {} bytes at {:#x}, expected them inside tile "
                                       "memory [{:#x}, {:#x}) of {} tiles",
                                       tile, bytes, address, base_,
                                       static_cast<Bytes>(base_) + tile_bytes_, tiles_));
    }
    return of_tile(tile) + offset;
}

} // namespace tessera::ipu
