// SPDX-License-Identifier: MIT
// Short ways to assemble a text and to look at what came out.
#pragma once

#include "base/error.h"
#include "models/isa/assembler.h"

#include <string>
#include <vector>

namespace tessera::isa::test {

constexpr Address kBase = 0x4c000;
constexpr std::int64_t kWorkers = 6;

inline program::Codelet assembled(const std::vector<SourceFile>& sources, Address address = kBase) {
    return assemble("test", sources, address, options_for(kDefaultTarget));
}

/// The words for the generation that has every row of the table.
inline std::vector<std::uint32_t> words_of_any_row(const std::string& text) {
    Target target;
    target.architecture = 21;
    return assemble("test", {{"a.S", text}}, kBase, options_for(target)).words;
}

inline program::Codelet assembled(const std::string& text, Address address = kBase) {
    return assembled(std::vector<SourceFile>{{"a.S", text}}, address);
}

inline std::vector<std::uint32_t> words_of(const std::string& text) {
    return assembled(text).words;
}

/// The canonical text of what the source assembles to, one line an instruction or bundle.
inline std::vector<std::string> listing_of(const std::string& text) {
    std::vector<std::string> lines;
    for (const ListingLine& line : disassemble(words_of(text), kBase)) {
        lines.push_back(line.text);
    }
    return lines;
}

/// All mistakes of a source, each as "file:line:column: message; hint"; empty when it assembles.
inline std::vector<std::string> mistakes_of(const std::vector<SourceFile>& sources) {
    std::vector<std::string> texts;
    try {
        static_cast<void>(assembled(sources));
    } catch (const ConfigError& error) {
        for (const Diagnostic& diagnostic : error.diagnostics()) {
            texts.push_back(diagnostic.text());
        }
    }
    return texts;
}

inline std::vector<std::string> mistakes_of(const std::string& text) {
    return mistakes_of(std::vector<SourceFile>{{"a.S", text}});
}

} // namespace tessera::isa::test
