// SPDX-License-Identifier: MIT
// What lexer, preprocessor and parser hand to each other.
#pragma once

#include "models/isa/assembler/position.h"

#include <cstdint>
#include <string_view>

namespace tessera::isa::assembly {

enum class TokenKind : std::uint8_t {
    Identifier,
    Number,         ///< `value` is the integer
    Half,           ///< `value` is the binary16 bit pattern
    LabelReference, ///< 1f, 2b: `value` is the number, the text ends with the direction
    String,         ///< text without the quotes
    Punctuation,
    Hash, ///< `#` that starts a preprocessor line
    Newline,
    End,
};

/// `text` points into the source, which outlives the tokens.
struct Token {
    TokenKind kind = TokenKind::End;
    bool space_before = false;
    std::string_view text;
    std::int64_t value = 0;
    Position at;

    [[nodiscard]] bool is(std::string_view punctuation) const {
        return kind == TokenKind::Punctuation && text == punctuation;
    }
};

} // namespace tessera::isa::assembly
