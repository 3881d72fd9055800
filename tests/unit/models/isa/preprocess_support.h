// SPDX-License-Identifier: MIT
// A text through the C preprocessor, and what came of it.
#pragma once

#include "base/error.h"
#include "models/isa/assembler.h"
#include "models/isa/assembler/diagnostics.h"
#include "models/isa/assembler/source_text.h"

#include <algorithm>
#include <string>
#include <vector>

namespace tessera::isa::assembly::test {

struct Preprocessed {
    std::vector<SourceLine> lines;
    std::vector<std::string> mistakes; ///< "file:line:column: message; hint"
    SourceMap map;

    [[nodiscard]] std::string line(std::size_t number) const { return lines.at(number - 1).text; }

    /// The lines that hold something, without white space at their ends.
    [[nodiscard]] std::vector<std::string> texts() const {
        std::vector<std::string> found;
        for (const SourceLine& line : lines) {
            const std::size_t first = line.text.find_first_not_of(" \t");
            if (first != std::string::npos) {
                found.push_back(
                    line.text.substr(first, line.text.find_last_not_of(" \t") - first + 1));
            }
        }
        return found;
    }

    /// "file:line:column" of the first place where `text` stands in line `number`, and the way
    /// there: "a.S:2:3 < FOO at a.S:4:1".
    [[nodiscard]] std::string origin_of(std::size_t number, const std::string& text) const {
        const SourceLine& line = lines.at(number - 1);
        Origin origin = line.origin_of(static_cast<std::uint32_t>(line.text.find(text)));
        std::string shown = place(origin.at);
        for (std::uint32_t trail = origin.trail; trail != 0; trail = map.trails[trail].parent) {
            shown += " < " + map.trails[trail].what + " " + place(map.trails[trail].at);
        }
        return shown;
    }

    [[nodiscard]] std::string place(const Position& at) const {
        return map.files.at(at.file) + ":" + std::to_string(at.line) + ":" +
               std::to_string(at.column);
    }
};

inline Preprocessed preprocessed(const std::string& text, const PreprocessOptions& options = {},
                                 const std::string& name = "a.S") {
    Preprocessed result;
    result.map.files = {name};
    Diagnostics diagnostics(result.map);
    result.lines = preprocess({name, text}, 0, options, result.map, diagnostics);
    try {
        diagnostics.throw_if_any();
    } catch (const ConfigError& error) {
        for (const Diagnostic& diagnostic : error.diagnostics()) {
            result.mistakes.push_back(diagnostic.text());
        }
    }
    return result;
}

/// The one line with something in it that a text without mistakes becomes.
inline std::string only_line(const std::string& text, const PreprocessOptions& options = {}) {
    const Preprocessed result = preprocessed(text, options);
    const std::vector<std::string> texts = result.texts();
    if (!result.mistakes.empty()) {
        return "mistake: " + result.mistakes.front();
    }
    return texts.size() == 1 ? texts.front() : std::to_string(texts.size()) + " lines";
}

} // namespace tessera::isa::assembly::test
