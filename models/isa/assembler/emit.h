// SPDX-License-Identifier: MIT
// The link: addresses of the sections, then words, symbols and the line table.
#pragma once

#include "models/isa/assembler/diagnostics.h"
#include "models/isa/assembler/evaluate.h"
#include "models/isa/assembler/unit.h"
#include "models/program/program.h"

namespace tessera::isa::assembly {

/// Fills words, symbols and lines of `codelet`, whose address is set. Mistakes go to `diagnostics`.
void emit(Unit& unit, Evaluator& evaluator, Diagnostics& diagnostics, program::Codelet& codelet);

} // namespace tessera::isa::assembly
