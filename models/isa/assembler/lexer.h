// SPDX-License-Identifier: MIT
// Text -> tokens. Comments (`//`, `/* */`, and `#` lines that are no preprocessor directive) are
// gone afterwards.
#pragma once

#include "models/isa/assembler/diagnostics.h"
#include "models/isa/assembler/token.h"

#include <string_view>
#include <vector>

namespace tessera::isa::assembly {

/// Tokens of source number `file`; the last is of kind End.
[[nodiscard]] std::vector<Token> lex(std::string_view text, std::uint32_t file,
                                     Diagnostics& diagnostics);

} // namespace tessera::isa::assembly
