// SPDX-License-Identifier: MIT
// What the stages between a source and the parser hand to each other: lines of text that know where
// each of their columns came from.
#pragma once

#include "models/isa/assembler/token.h"
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
};

/// Where text was written, and through which macros and includes it came here.
struct Origin {
    Position at;
    std::uint32_t trail = 0; ///< innermost step in SourceMap::trails; 0: none
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

    /// Of a 0-based column; beyond the text the last piece goes on.
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
};

/// The C preprocessor: what `source` (number `file` in `map.files`) becomes when macros, conditions
/// and includes are resolved and comments are gone. Line `n` of the source is line `n` of the result as
/// long as no include, no macro call over several lines and no joined line stands before it; each
/// line's pieces tell where it came from in any case. Included files are added to `map.files`.
/// Mistakes go to `diagnostics` through `add(const Origin&, message, hint)`. Never throws ConfigError.
[[nodiscard]] std::vector<SourceLine> preprocess(const SourceFile& source, std::uint32_t file,
                                                 const PreprocessOptions& options, SourceMap& map,
                                                 Diagnostics& diagnostics);

} // namespace tessera::isa::assembly
