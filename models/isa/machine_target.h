// SPDX-License-Identifier: MIT
// The Target of a machine spec.
#pragma once

#include "models/isa/target.h"
#include "models/spec/machine_spec.h"

namespace tessera::isa {

[[nodiscard]] inline Target target_of(const spec::MachineSpec& machine) {
    Target target;
    switch (machine.chip.generation) {
    case spec::Generation::Ipu1:
        target.architecture = 1;
        break;
    case spec::Generation::Ipu2:
        target.architecture = 2;
        break;
    case spec::Generation::Ipu21:
        target.architecture = 21;
        break;
    }
    target.workers = machine.tile.workers;
    target.memory_base = machine.memory.region0_begin();
    target.region0_bytes = static_cast<std::uint32_t>(machine.memory.region0_bytes);
    target.region1_bytes = static_cast<std::uint32_t>(machine.memory.region1_bytes);
    target.element_bytes = static_cast<std::uint32_t>(machine.memory.element_bytes);
    target.steps_sharing = machine.amp.steps_sharing();
    target.step_issues = static_cast<std::int32_t>(machine.amp.step_issues());
    return target;
}

} // namespace tessera::isa
