// SPDX-License-Identifier: MIT
// Text of a statement -> tokens.
#pragma once

#include "models/isa/assembler/diagnostics.h"
#include "models/isa/assembler/names.h"
#include "models/isa/assembler/text_stack.h"
#include "models/isa/assembler/token.h"

#include <vector>

namespace tessera::isa::assembly {

/// Replaces `tokens` by those of the statement; the last is what ends it: a Newline, or one of
/// `;`, `{` and `}`.
void lex(const Statement& statement, NamePool& names, Diagnostics& diagnostics,
         std::vector<Token>& tokens);

/// What a string stands for: `\n`, `\t`, `\"`, `\\`, `\b`, `\f`, `\r`, `\NNN` (octal), `\xHH`.
[[nodiscard]] std::string unescaped(std::string_view text);

} // namespace tessera::isa::assembly
