// SPDX-License-Identifier: MIT
// Assembly text -> a linked Codelet at a fixed address. Language: docs/assembler.md.
#pragma once

#include "base/units.h"
#include "models/isa/csr.h"
#include "models/isa/instruction.h"
#include "models/isa/target.h"
#include "models/program/program.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::isa {

struct SourceFile {
    std::string name; ///< as shown in errors and line tables
    std::string text;
};

/// Constants that every source sees, for example CTXT_WORKERS and the TAMP_ flags.
using Constants = std::map<std::string, std::int64_t>;

/// The symbols that are there without any header: the constants of the machine's standard headers.
[[nodiscard]] Constants standard_constants(const Target& target);

struct AssemblyOptions {
    Target target;
    std::vector<std::filesystem::path> include_directories;   ///< searched in this order
    std::vector<std::pair<std::string, std::string>> defines; ///< preprocessor macros: name, text
    std::vector<SourceFile> embedded; ///< texts that #include finds by name, before any file
    Constants constants;
    std::optional<Address> data_address; ///< where sections that hold only data go; none: with code
    bool allow_undefined =
        false; ///< what a symbol makes that nobody defines is 0, and it is listed
};

/// What a section of all sources holds; its padding aligns what is in it and what follows it.
struct SectionTally {
    std::string name;
    Bytes code_bytes = 0;
    Bytes data_bytes = 0;
    Bytes padding_bytes = 0;
};

/// A symbol that nobody defines, and where it is used first: "a.S:3:5".
struct UndefinedSymbol {
    std::string name;
    std::string place;
};

/// An instruction or data that would need it.
struct UndefinedUse {
    Address at = 0;
    std::string symbol;
    bool is_data = false;
};

/// What was assembled, counted.
struct AssemblyTally {
    std::vector<SectionTally>
        sections; ///< those in memory, in the order of their names' first appearance
    std::map<std::string, std::int64_t> mnemonics; ///< of all instructions, both halves of bundles
    std::int64_t instructions = 0;                 ///< the sum of them
    std::int64_t bundles = 0;
    std::vector<UndefinedSymbol> undefined;   ///< by name
    std::vector<UndefinedUse> undefined_uses; ///< in the order of sections
    std::vector<std::string> printed;         ///< by .print
};

/// Options for a machine, with its standard constants.
[[nodiscard]] AssemblyOptions options_for(const Target& target);

/// Assembles the sources together (they share global symbols) and links them to run at `address`.
/// @throws ConfigError with every mistake of all files: file, line, column, what was expected,
/// nearest name, and the way through macros and includes.
[[nodiscard]] program::Codelet assemble(const std::string& name,
                                        const std::vector<SourceFile>& sources, Address address,
                                        const AssemblyOptions& options,
                                        AssemblyTally* tally = nullptr);

/// Whether the operation is what nop or fnop stands for.
[[nodiscard]] bool is_nop(const Operation& operation);

/// The mnemonic of an operation as it is shown: nop and fnop have their own.
[[nodiscard]] std::string_view shown_mnemonic(const Operation& operation);

/// One instruction of a listing.
struct ListingLine {
    Address address = 0;
    std::vector<std::uint32_t> words; ///< one, or two for a bundle
    std::string text;                 ///< canonical text; assembles back to the same words
};

/// Disassembles words that start at `address`. A word that is no instruction becomes `.word 0x...`.
/// Control registers whose name depends on who runs the code have names if `context` says it.
[[nodiscard]] std::vector<ListingLine> disassemble(const std::vector<std::uint32_t>& words,
                                                   Address address,
                                                   CsrContext context = CsrContext::Both);

} // namespace tessera::isa
