// SPDX-License-Identifier: MIT
// A machine's specification as the instruction set needs to know it.
#pragma once

#include "models/isa/target.h"
#include "models/spec/machine_spec.h"

namespace tessera::tile {

[[nodiscard]] isa::Target target_of(const spec::MachineSpec& machine);

} // namespace tessera::tile
