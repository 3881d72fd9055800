// SPDX-License-Identifier: MIT
// The link: addresses of the sections, then words, symbols and the line table.
#pragma once

#include "models/isa/assembler/diagnostics.h"
#include "models/isa/assembler/evaluate.h"
#include "models/isa/assembler/source_text.h"
#include "models/isa/assembler/unit.h"
#include "models/isa/target.h"
#include "models/program/program.h"

#include <optional>

namespace tessera::isa::assembly {

/// The addresses to link at, and the machine.
struct EmitOptions {
    Target target;
    std::optional<Address> data_address; ///< of the sections that hold only data; none: with code
};

/// Fills words, symbols and lines of `codelet`, whose address is set. Mistakes go to `diagnostics`.
void emit(Unit& unit, Evaluator& evaluator, const SourceMap& map, const EmitOptions& options,
          Diagnostics& diagnostics, program::Codelet& codelet);

} // namespace tessera::isa::assembly
