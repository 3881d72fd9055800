// SPDX-License-Identifier: MIT
#include "models/isa/assembler/source_text.h"

#include <algorithm>

namespace tessera::isa::assembly {

Origin SourceLine::origin_of(std::uint32_t column) const {
    if (pieces.empty()) {
        return {};
    }
    auto after = std::upper_bound(
        pieces.begin(), pieces.end(), column,
        [](std::uint32_t wanted, const Piece& piece) { return wanted < piece.column; });
    const Piece& piece = after == pieces.begin() ? pieces.front() : *(after - 1);
    Origin origin = piece.from;
    if (piece.verbatim && column > piece.column) {
        origin.at.column += column - piece.column;
    }
    return origin;
}

} // namespace tessera::isa::assembly
