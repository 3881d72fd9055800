// SPDX-License-Identifier: MIT
#include "models/tile/core/machine_target.h"

namespace tessera::tile {
namespace {

int architecture_of(spec::Generation generation) {
    switch (generation) {
    case spec::Generation::Ipu1:
        return 1;
    case spec::Generation::Ipu2:
        return 2;
    case spec::Generation::Ipu21:
        return 21;
    }
    return 2;
}

} // namespace

isa::Target target_of(const spec::MachineSpec& machine) {
    isa::Target target;
    target.architecture = architecture_of(machine.chip.generation);
    target.workers = machine.tile.workers;
    target.memory_base = machine.memory.region0_begin();
    target.region0_bytes = static_cast<std::uint32_t>(machine.memory.region0_bytes);
    target.region1_bytes = static_cast<std::uint32_t>(machine.memory.region1_bytes);
    target.element_bytes = static_cast<std::uint32_t>(machine.memory.element_bytes);
    return target;
}

} // namespace tessera::tile
