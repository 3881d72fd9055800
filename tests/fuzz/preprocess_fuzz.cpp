// SPDX-License-Identifier: MIT
// libFuzzer: any text either passes the C preprocessor or is told its mistakes, and each column of
// what comes out knows a place in a file.
#include "base/error.h"
#include "models/isa/assembler.h"
#include "models/isa/assembler/diagnostics.h"
#include "models/isa/assembler/source_text.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using namespace tessera::isa;

void check(bool holds) {
    if (!holds) {
        std::abort();
    }
}

void check_origins(const std::vector<assembly::SourceLine>& lines, const assembly::SourceMap& map) {
    for (const assembly::SourceLine& line : lines) {
        check(!line.pieces.empty() && line.pieces.front().column == 0);
        check(line.text.find('\n') == std::string::npos);
        for (std::uint32_t column = 0; column <= line.text.size(); ++column) {
            const assembly::Origin origin = line.origin_of(column);
            check(origin.at.file < map.files.size() && origin.trail < map.trails.size());
            check(origin.at.line != 0 && origin.at.column != 0);
        }
    }
    for (std::uint32_t trail = 1; trail < map.trails.size(); ++trail) {
        check(map.trails[trail].parent < trail && map.trails[trail].at.file < map.files.size());
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    const std::string text(data, data + bytes);
    assembly::PreprocessOptions options;
    options.defines = {{"ONE", "1"}, {"TWICE(x)", "x x"}};
    assembly::SourceMap map;
    map.files = {"a.S"};
    assembly::Diagnostics diagnostics(map);
    const auto lines = assembly::preprocess({"a.S", text}, 0, options, map, diagnostics);
    check_origins(lines, map);
    try {
        diagnostics.throw_if_any();
    } catch (const tessera::ConfigError&) {
    }
    return 0;
}
