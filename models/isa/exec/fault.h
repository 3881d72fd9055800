// SPDX-License-Identifier: MIT
// What stops an instruction.
#pragma once

#include "models/isa/context.h"

namespace tessera::isa::TESSERA_ENGINE {

[[noreturn]] void fault(const MicroOperation& op, const char* reason, bool not_modelled = false);

} // namespace tessera::isa::TESSERA_ENGINE
