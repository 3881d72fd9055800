// SPDX-License-Identifier: MIT
// Places in sources, for errors and line tables.
#pragma once

#include <cstdint>

namespace tessera::isa::assembly {

/// A place in a file. Line and column count from 1.
struct Position {
    std::uint32_t file = 0;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
};

/// Where text was written, and through which macros and includes it came here.
struct Origin {
    Position at;
    std::uint32_t trail = 0; ///< innermost step in SourceMap::trails; 0: none
};

} // namespace tessera::isa::assembly
