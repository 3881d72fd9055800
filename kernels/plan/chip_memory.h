// SPDX-License-Identifier: MIT
// What can fit, for those who search before they plan.
#pragma once

#include "base/units.h"
#include "models/spec/machine_spec.h"

namespace tessera::plan {

/// What estimates may fill of a tile: all but an element, for the code.
[[nodiscard]] inline Bytes bytes_for_data(const spec::MachineSpec& machine) {
    return machine.memory.bytes() - machine.memory.element_bytes;
}

/// Are so many bytes, operands and result of a product, more than all tiles have together?
[[nodiscard]] inline bool exceeds_chip(const spec::MachineSpec& machine, double bytes) {
    return bytes >
           static_cast<double>(machine.chip.tiles) * static_cast<double>(machine.memory.bytes());
}

} // namespace tessera::plan
