// SPDX-License-Identifier: MIT
#include "models/isa/assembler.h"

#include "models/isa/assembler/c_preprocessor/include_search.h"
#include "models/isa/assembler/common_symbols.h"
#include "models/isa/assembler/emit.h"
#include "models/isa/assembler/parser.h"
#include "models/isa/assembler/source_text.h"
#include "models/isa/assembler/tally.h"

namespace tessera::isa {
namespace {

constexpr Address kMostAddress = 0x1fffff; ///< 21 address bits (TMEM_BYTE_MAX_ADDRESS_WIDTH)

std::string hex(std::uint64_t value) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    do {
        text.insert(text.begin(), kDigits[value % 16]);
        value /= 16;
    } while (value != 0);
    return "0x" + text;
}

void check_address(const std::string& name, const std::string& what, Address address) {
    if (address % 8 != 0 || address > kMostAddress) {
        throw ConfigError(Diagnostic{name, 0, 0, "",
                                     what + " address: got " + hex(address) +
                                         ", expected a multiple of 8 below 0x200000",
                                     ""});
    }
}

std::string place_of(const assembly::Position& at, const assembly::SourceMap& map) {
    return map.files[at.file] + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

} // namespace

program::Codelet assemble(const std::string& name, const std::vector<SourceFile>& sources,
                          Address address, const AssemblyOptions& options, AssemblyTally* tally) {
    check_address(name, "code", address);
    if (options.data_address) {
        check_address(name, "data", *options.data_address);
    }
    assembly::SourceMap map;
    for (const SourceFile& source : sources) {
        map.files.push_back(source.name);
    }
    assembly::Diagnostics diagnostics(map);
    assembly::Unit unit;
    unit.scopes.resize(sources.size());
    assembly::Evaluator evaluator(unit, options.constants, options.allow_undefined,
                                  options.target.memory_base, diagnostics);
    assembly::cpp::IncludeSearch files(options.include_directories, &options.embedded);
    const assembly::PreprocessOptions preprocessing{options.target, options.include_directories,
                                                    options.defines, &options.embedded};
    for (std::uint32_t file = 0; file < sources.size(); ++file) {
        auto lines = assembly::preprocess(sources[file], file, preprocessing, map, diagnostics);
        assembly::parse(std::move(lines), file, map, unit, evaluator, files, diagnostics);
    }
    assembly::place_commons(unit);
    program::Codelet codelet;
    codelet.name = name;
    codelet.address = address;
    assembly::emit(unit, evaluator, map, {options.target, options.data_address}, diagnostics,
                   codelet);
    diagnostics.throw_if_any();
    if (tally != nullptr) {
        *tally = assembly::tally_of(unit, codelet);
        tally->printed = std::move(unit.printed);
        for (const auto& [symbol, use] : evaluator.undefined()) {
            tally->undefined.push_back({std::string(symbol), place_of(use.at, map)});
        }
        tally->undefined_uses = evaluator.undefined_uses();
    }
    codelet.warnings = diagnostics.warnings();
    codelet.files = std::move(map.files);
    return codelet;
}

} // namespace tessera::isa
