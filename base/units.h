// SPDX-License-Identifier: MIT
// The quantities that cross every interface. All times inside are whole tile-clock cycles.
#pragma once

#include <cstdint>

namespace tessera {

using Cycles = std::int64_t;
using Bytes = std::int64_t;
using TileId = std::uint32_t;  ///< logical tile number, 0 .. tiles-1
using Address = std::uint32_t; ///< byte address in a tile's memory (21 bits)

} // namespace tessera
