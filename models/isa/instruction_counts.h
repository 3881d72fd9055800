// SPDX-License-Identifier: MIT
// What an execution of an instruction counts: the column `counts` of opcodes.def.
#pragma once

#include "models/counts/counts.h"
#include "models/isa/instruction.h"

namespace tessera::isa {

[[nodiscard]] const counts::Instruction& counts_of(Opcode opcode);

} // namespace tessera::isa
