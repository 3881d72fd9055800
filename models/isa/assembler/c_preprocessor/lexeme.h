// SPDX-License-Identifier: MIT
// The preprocessor's own tokens. They know only what C macros need to tell apart: `$`, `\` and `.`
// are punctuation, so that a name behind them is a name of its own.
#pragma once

#include "models/isa/assembler/source_text.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::isa::assembly::cpp {

enum class LexemeKind : std::uint8_t { Identifier, Number, String, Character, Punctuation };

/// `text` points into a file, a logical line or the expander's scratch texts.
struct Lexeme {
    std::string_view text;
    Position at;
    std::uint32_t trail = 0;  ///< of the source map; with kExpansionBit: index of an expansion
    std::uint32_t blanks = 0; ///< columns of white space before it
    LexemeKind kind = LexemeKind::Punctuation;
    bool made = false;           ///< spelled nowhere: pasted, turned into a string, predefined
    bool frozen = false;         ///< named a macro while that was being expanded: stays as it is
    std::int16_t parameter = -1; ///< in a macro's body: which parameter, or -1

    [[nodiscard]] bool is(std::string_view punctuation) const {
        return kind == LexemeKind::Punctuation && text == punctuation;
    }
};

inline constexpr std::uint32_t kExpansionBit = 0x80000000U;

/// Ends the preprocessing of a source at once: a limit is reached.
struct Stop {
    Origin at;
    std::string message;
};

[[nodiscard]] constexpr bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r' || c == '\0';
}

/// Letters, digits, `_` and every byte of a character beyond ASCII.
[[nodiscard]] constexpr bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

/// Length of the string or character constant that `text` begins with. A quote without its partner
/// takes the rest of the line, as clang has it: `# don't` opens nothing, nor does what follows.
[[nodiscard]] std::size_t quoted_length(std::string_view text, bool& is_closed);

/// Appends the lexemes of a line without comments. The pieces are all verbatim.
void scan(std::string_view text, const std::vector<Piece>& pieces, std::vector<Lexeme>& out);

/// Whether the text is one single lexeme; its kind goes to `kind`.
[[nodiscard]] bool is_single_lexeme(std::string_view text, LexemeKind& kind);

} // namespace tessera::isa::assembly::cpp
