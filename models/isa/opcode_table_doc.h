// SPDX-License-Identifier: MIT
// The instruction table as documentation: docs/instructions.md is exactly this text.
#pragma once

#include <string>

namespace tessera::isa {

/// A Markdown page with a row for every row of opcodes.def, in its order.
[[nodiscard]] std::string opcode_table_markdown();

} // namespace tessera::isa
