// SPDX-License-Identifier: MIT
// The expression of an #if.
#pragma once

#include "models/isa/assembler/c_preprocessor/expander.h"

namespace tessera::isa::assembly::cpp {

/// Whether the expression holds; false after a mistake. `directive` is where to report what is
/// missing. 64-bit integers, with the rules of C (6.10.1): names that are no macro are 0.
[[nodiscard]] bool condition_holds(std::span<const Lexeme> expression, const Origin& directive,
                                   const MacroTable& macros, Expander& expander,
                                   Diagnostics& diagnostics);

} // namespace tessera::isa::assembly::cpp
