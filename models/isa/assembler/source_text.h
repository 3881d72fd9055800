// SPDX-License-Identifier: MIT
// What the stages between a source and the parser hand to each other: lines of text that know where
// each of their columns came from.
#pragma once

#include "models/isa/assembler/position.h"
#include "models/isa/target.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace tessera::isa {
struct SourceFile;
} // namespace tessera::isa

namespace tessera::isa::assembly {

class Diagnostics;

/// One step of the way from a mistake to the line that the user wrote.
struct Trail {
    std::string what; ///< "in the expansion of macro 'FOO'", "included from here"
    Position at;
    std::uint32_t parent = 0; ///< the next step outwards in SourceMap::trails; 0: none
    bool is_include = false;  ///< into an included file; all others are macro calls
};

/// From `column` (0-based) of a line on, up to the next piece.
struct Piece {
    std::uint32_t column = 0;
    Origin from;
    bool verbatim = true; ///< columns advance with the original; false: all of it stands at `from`
};

struct SourceLine {
    std::string text;          ///< without the newline
    std::vector<Piece> pieces; ///< by column; the first at column 0

    /// The origin of a 0-based column; columns beyond the text continue the last piece.
    [[nodiscard]] Origin origin_of(std::uint32_t column) const;
};

/// What all stages share: names of all files (sources, then included ones) and the trails.
struct SourceMap {
    std::vector<std::string> files;
    std::vector<Trail> trails{1}; ///< index 0 is "none"
};

struct PreprocessOptions {
    Target target;
    std::vector<std::filesystem::path> include_directories;   ///< searched in this order
    std::vector<std::pair<std::string, std::string>> defines; ///< name, or name(parameters); text
    const std::vector<SourceFile>* embedded = nullptr;        ///< found by name, before any file
};

/// The C preprocessor: what `source` (number `file` in `map.files`) becomes when macros, conditions
/// and includes are resolved and comments are gone; docs/preprocessor.md. A source line gives one
/// line, an empty one where it is a directive, left out, or joined to a line before; so line
/// numbers move only behind an include, and the pieces tell the origin in any case. Text of a macro
/// stands where its definition says, with the call in the trail; arguments stand where they were
/// written. Included files are added to `map.files`. All mistakes go to `diagnostics`; throws none.
[[nodiscard]] std::vector<SourceLine> preprocess(const SourceFile& source, std::uint32_t file,
                                                 const PreprocessOptions& options, SourceMap& map,
                                                 Diagnostics& diagnostics);

} // namespace tessera::isa::assembly
