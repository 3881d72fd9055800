// SPDX-License-Identifier: MIT
// Prints the instruction table as Markdown: tessera_instruction_table > docs/instructions.md
#include "models/isa/opcode_table_doc.h"

#include <cstdio>

int main() {
    return std::fputs(tessera::isa::opcode_table_markdown().c_str(), stdout) < 0 ? 1 : 0;
}
