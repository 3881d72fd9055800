// SPDX-License-Identifier: MIT
// The commands `asm` and `disasm`: tile programs without running them. Each returns the text for
// stdout.
//
//   tessera asm add.S --listing
//   0x0004c000  19000005           setzi $m0, 5                                 add.S:12
//   0x0004c004  b8...    3...      { ld64step ... ; f16v4add ... }              add.S:13
//
// address, word (two for a bundle), canonical text, the source line that it came from.
#pragma once

#include "sim/cli/cli.h"

#include <string>

namespace tessera::assemble {

/// Assembles and links the files; writes the words (little-endian) and the JSON listing if asked.
/// @throws ConfigError with all mistakes of all files; IoError
[[nodiscard]] std::string assemble_text(const cli::AssembleCommand& command);

/// The text of a file of words. @throws ConfigError if it holds none; IoError
[[nodiscard]] std::string disassemble_text(const cli::DisassembleCommand& command);

} // namespace tessera::assemble
