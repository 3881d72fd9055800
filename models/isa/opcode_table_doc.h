// SPDX-License-Identifier: MIT
// The instruction table as documentation: docs/instructions.md is exactly this text.
#pragma once

#include <string>
#include <string_view>

namespace tessera::isa {

/// A Markdown page: the instructions by family, a row for every row of opcodes.def.
[[nodiscard]] std::string opcode_table_markdown();

/// What the instruction does, in one line of Markdown; empty for an unknown mnemonic.
[[nodiscard]] std::string_view meaning_of(std::string_view mnemonic);

/// A line for every row of the table, by mnemonic: operands, lane, worker issues, what it does.
[[nodiscard]] std::string opcode_list_text();

} // namespace tessera::isa
