// SPDX-License-Identifier: MIT
// The instruction table as documentation: docs/instructions.md is exactly this text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::isa {

/// A Markdown page: the instructions by family, a row for every row of opcodes.def.
[[nodiscard]] std::string opcode_table_markdown();

/// What the instruction does, in one line of Markdown; empty for an unknown mnemonic.
[[nodiscard]] std::string_view meaning_of(std::string_view mnemonic);

/// A row of the table for people.
struct OpcodeLine {
    std::string mnemonic;
    std::string operands;
    std::string lane; ///< main or aux
    int issues = 0;   ///< of a worker
    std::string meaning;
};

/// Every row, by mnemonic.
[[nodiscard]] std::vector<OpcodeLine> opcode_list();

} // namespace tessera::isa
