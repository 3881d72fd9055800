// SPDX-License-Identifier: MIT
// Tiles of a chip that take part in traffic between chips.
#pragma once

#include "models/spec/machine_spec.h"

#include <cstdint>
#include <vector>

namespace tessera::chips {

/// `wanted` tiles, 0 meaning all, evenly spread over the chip. @throws ConfigError where there are not
/// so many
[[nodiscard]] std::vector<TileId> spread_tiles(const spec::MachineSpec& machine,
                                               std::int64_t wanted);

} // namespace tessera::chips
