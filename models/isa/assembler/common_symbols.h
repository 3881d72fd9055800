// SPDX-License-Identifier: MIT
// Common symbols (`.comm`): those of all sources that have one name share one place.
#pragma once

#include "models/isa/assembler/unit.h"

namespace tessera::isa::assembly {

/// Makes labels in .bss of the common symbols that no source defines, in the order of their names,
/// each with the largest size and alignment that a source asks for. A weak definition gives way.
void place_commons(Unit& unit);

} // namespace tessera::isa::assembly
