// SPDX-License-Identifier: MIT
// What cannot fit however it is divided is told before a division is searched.
#pragma once

#include "base/error.h"
#include "models/spec/machine_spec.h"

#include <fmt/format.h>

#include <string>

namespace tessera::plan {

/// @throws DoesNotFit where `bytes`, operands and result of `what`, are more than all tiles have
inline void need_chip_memory(const spec::MachineSpec& machine, double bytes,
                             const std::string& what) {
    const double there =
        static_cast<double>(machine.chip.tiles) * static_cast<double>(machine.memory.bytes());
    if (bytes > there) {
        throw DoesNotFit(fmt::format("{} does not fit in tile memory: operands and result are "
                                     "{:.0f} bytes over what all {} tiles have together",
                                     what, bytes - there, machine.chip.tiles));
    }
}

} // namespace tessera::plan
