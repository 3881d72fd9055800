// SPDX-License-Identifier: MIT
// This finds which main registers code reads and writes that begins at an operation, whichever way it goes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::isa {

struct DecodedProgram;

/// Bits of $m0..$m11.
struct EntryRegisters {
    std::uint16_t needed = 0;  ///< read before they are written, on some way
    std::uint16_t written = 0; ///< on some way
};

/// Looks at the code from operation `index` of a program on, to an exit. A branch to where a register says may
/// need and write everything.
[[nodiscard]] EntryRegisters entry_registers(const DecodedProgram& program, std::size_t index);

} // namespace tessera::isa
