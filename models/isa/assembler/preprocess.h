// SPDX-License-Identifier: MIT
// The preprocessor between lexer and parser: `#define NAME tokens` and `#undef NAME`, object-like
// only. The parser sees a plain token stream and does not know what stands here.
#pragma once

#include "models/isa/assembler/diagnostics.h"
#include "models/isa/assembler/token.h"

#include <vector>

namespace tessera::isa::assembly {

/// The tokens with macros replaced; a replaced token stands where the macro was used. No Hash token
/// is left.
[[nodiscard]] std::vector<Token> preprocess(std::vector<Token> tokens, Diagnostics& diagnostics);

} // namespace tessera::isa::assembly
