// SPDX-License-Identifier: MIT
#include "models/ipu/core/chip_memory.h"

#include "base/error.h"

#include <fmt/format.h>

#include <new>
#include <sys/mman.h>

namespace tessera::ipu {
namespace {

constexpr std::size_t kPageBytes = 4096;

std::size_t whole_pages(Bytes bytes) {
    return (static_cast<std::size_t>(bytes) + kPageBytes - 1) / kPageBytes * kPageBytes;
}

} // namespace

ChipMemory::ChipMemory(const spec::MachineSpec& spec)
    : stride_bytes_(whole_pages(spec.memory.bytes())),
      mapped_bytes_(stride_bytes_ * static_cast<std::size_t>(spec.chip.tiles)),
      tiles_(static_cast<TileId>(spec.chip.tiles)), base_(spec.memory.region0_begin()),
      tile_bytes_(spec.memory.bytes()) {
    void* mapping = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) {
        throw std::bad_alloc();
    }
    begin_ = static_cast<std::byte*>(mapping);
}

ChipMemory::~ChipMemory() {
    munmap(begin_, mapped_bytes_);
}

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
