// SPDX-License-Identifier: MIT
// Tile memory as those see it who move bytes in and out of it.
#pragma once

#include "base/units.h"

#include <cstddef>

namespace tessera::program {

class TileMemory {
public:
    TileMemory() = default;
    TileMemory(const TileMemory&) = delete;
    TileMemory& operator=(const TileMemory&) = delete;
    virtual ~TileMemory() = default;

    /// Host bytes of [address, address + bytes) of `tile`. @throws ProgramError outside memory.
    [[nodiscard]] virtual std::byte* at(TileId tile, Address address, Bytes bytes) const = 0;
};

} // namespace tessera::program
