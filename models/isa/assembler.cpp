// SPDX-License-Identifier: MIT
#include "models/isa/assembler.h"

#include "models/isa/assembler/emit.h"
#include "models/isa/assembler/lexer.h"
#include "models/isa/assembler/parser.h"
#include "models/isa/assembler/preprocess.h"
#include "models/isa/assembler/source_text.h"

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

} // namespace

program::Codelet assemble(const std::string& name, const std::vector<SourceFile>& sources,
                          Address address, const Constants& constants) {
    if (address % 8 != 0 || address > kMostAddress) {
        throw ConfigError(Diagnostic{
            name, 0, 0, "",
            "code address: got " + hex(address) + ", expected a multiple of 8 below 0x200000", ""});
    }
    program::Codelet codelet;
    codelet.name = name;
    codelet.address = address;
    for (const SourceFile& source : sources) {
        codelet.files.push_back(source.name);
    }
    assembly::SourceMap map;
    map.files = codelet.files;
    assembly::Diagnostics diagnostics(map);
    assembly::Unit unit;
    unit.scopes.resize(sources.size());
    assembly::Evaluator evaluator(unit, constants, diagnostics);
    for (std::uint32_t file = 0; file < sources.size(); ++file) {
        auto tokens = assembly::lex(sources[file].text, file, diagnostics);
        assembly::parse(assembly::preprocess(std::move(tokens), diagnostics), file, unit, evaluator,
                        diagnostics);
    }
    assembly::emit(unit, evaluator, diagnostics, codelet);
    diagnostics.throw_if_any();
    return codelet;
}

} // namespace tessera::isa
