// SPDX-License-Identifier: MIT
// Bounds on what fits in memory, for searches before planning.
#pragma once

#include "base/units.h"
#include "models/spec/machine_spec.h"

namespace tessera::plan {

/// The bytes of a tile that an estimate may fill: all but one element, which is left for code.
[[nodiscard]] inline Bytes bytes_for_data(const spec::MachineSpec& machine) {
    return machine.memory.bytes() - machine.memory.element_bytes;
}

/// Whether operands and result of a product, `bytes` together, exceed the memory of all tiles.
[[nodiscard]] inline bool exceeds_chip(const spec::MachineSpec& machine, double bytes) {
    return bytes >
           static_cast<double>(machine.chip.tiles) * static_cast<double>(machine.memory.bytes());
}

} // namespace tessera::plan
