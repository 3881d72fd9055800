// SPDX-License-Identifier: MIT
// What a linked unit holds, counted.
#pragma once

#include "models/isa/assembler.h"
#include "models/isa/assembler/unit.h"
#include "models/program/program.h"

namespace tessera::isa::assembly {

/// Of a unit without mistakes that was emitted into `codelet`; undefined symbols are not its
/// business.
[[nodiscard]] AssemblyTally tally_of(const Unit& unit, const program::Codelet& codelet);

} // namespace tessera::isa::assembly
