// SPDX-License-Identifier: MIT
// Assembly text -> a linked Codelet at a fixed address. Language: docs/assembler.md.
#pragma once

#include "base/units.h"
#include "models/isa/csr.h"
#include "models/program/program.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tessera::isa {

struct SourceFile {
    std::string name; ///< as shown in errors and line tables
    std::string text;
};

/// Constants that every source sees, for example CTXT_WORKERS and the TAMP_ flags.
using Constants = std::map<std::string, std::int64_t>;

/// The constants of the machine's standard headers for a tile with `workers` worker contexts.
[[nodiscard]] Constants standard_constants(std::int64_t workers);

/// Assembles the sources together (they share global symbols) and links them to run at `address`.
/// @throws ConfigError with every mistake of all files: file, line, column, what was expected,
/// nearest name.
[[nodiscard]] program::Codelet assemble(const std::string& name,
                                        const std::vector<SourceFile>& sources, Address address,
                                        const Constants& constants);

/// One instruction of a listing.
struct ListingLine {
    Address address = 0;
    std::vector<std::uint32_t> words; ///< one, or two for a bundle
    std::string text;                 ///< canonical text; assembles back to the same words
};

/// Disassembles words that start at `address`. A word that is no instruction becomes `.word 0x...`. Control registers whose
/// name depends on who runs the code have names if `context` says it.
[[nodiscard]] std::vector<ListingLine> disassemble(const std::vector<std::uint32_t>& words,
                                                   Address address,
                                                   CsrContext context = CsrContext::Both);

} // namespace tessera::isa
