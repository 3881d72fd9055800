// SPDX-License-Identifier: MIT
// The lines of one source -> items, symbols and expressions in a Unit.
#pragma once

#include "models/isa/assembler/diagnostics.h"
#include "models/isa/assembler/evaluate.h"
#include "models/isa/assembler/source_text.h"
#include "models/isa/assembler/unit.h"

#include <cstdint>
#include <vector>

namespace tessera::isa::assembly::cpp {
class IncludeSearch;
} // namespace tessera::isa::assembly::cpp

namespace tessera::isa::assembly {

/// A codelet longer than this cannot fit into a tile; the parser stops there.
constexpr std::uint32_t kMaxBytes = 1U << 20U;
constexpr std::int64_t kMaxAlignment = 32768;

/// Parses source number `file` into `unit`; the steps through its macros are added to `map`.
/// `files` finds what .incbin names. Mistakes go to `diagnostics`, and parsing goes on.
void parse(std::vector<SourceLine> lines, std::uint32_t file, SourceMap& map, Unit& unit,
           Evaluator& evaluator, cpp::IncludeSearch& files, Diagnostics& diagnostics);

} // namespace tessera::isa::assembly
