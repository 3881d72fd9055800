// SPDX-License-Identifier: MIT
// GC2 as configs/machines/gc2.json has it, for tests that read no files.
#pragma once

#include "models/spec/machine_spec.h"

namespace tessera::test {

[[nodiscard]] inline spec::MachineSpec gc2_with(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.generation = spec::Generation::Ipu1;
    machine.chip.tiles = tiles;
    machine.memory.base = 0x40000;
    machine.memory.region0_bytes = 0x20000;
    machine.memory.region1_bytes = 0x20000;
    machine.exchange.max_words_per_sendoff = 64;
    return machine;
}

} // namespace tessera::test
