// SPDX-License-Identifier: MIT
// What the transfers of an exchange ask for, whatever their schedule.
#pragma once

#include "base/units.h"
#include "models/program/program.h"

#include <cstdint>

namespace tessera::ipu {

/// Cycles of the busiest lane of a chip of `tiles` tiles: a tile sends and receives 4 bytes a cycle
/// each way, 8 where the transfer is paired and the machine has `pair_double`; multicast is one
/// pass for the sender.
[[nodiscard]] Cycles busiest_tile_cycles(const program::Exchange& exchange, std::int64_t tiles,
                                         bool pair_double);

} // namespace tessera::ipu
