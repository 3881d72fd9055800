// SPDX-License-Identifier: MIT
// What cannot fit however it is divided, so that no search is made for it.
#pragma once

#include "models/spec/machine_spec.h"

namespace tessera::plan {

/// Are so many bytes, operands and result of a product, more than all tiles have together?
[[nodiscard]] inline bool exceeds_chip(const spec::MachineSpec& machine, double bytes) {
    return bytes >
           static_cast<double>(machine.chip.tiles) * static_cast<double>(machine.memory.bytes());
}

} // namespace tessera::plan
