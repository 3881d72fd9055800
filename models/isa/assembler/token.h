// SPDX-License-Identifier: MIT
// What lexer and parser hand to each other.
#pragma once

#include "models/isa/assembler/position.h"

#include <cstdint>
#include <string_view>

namespace tessera::isa::assembly {

enum class TokenKind : std::uint8_t {
    Identifier,     ///< text is interned: it outlives the source
    Number,         ///< `value` is the integer
    BigNumber,      ///< an integer of more than 64 bits: only in .octa
    Half,           ///< `value` is the binary16 bit pattern
    Real,           ///< 1.5, 1e9: only in .float and its like
    LabelReference, ///< 1f, 2b: `value` is the number, the text ends with the direction
    String,         ///< text without the quotes, escapes as they are written
    Punctuation,
    Newline, ///< the end of the statement at the end of a line
};

/// `text` is good until the next statement is read.
struct Token {
    TokenKind kind = TokenKind::Newline;
    std::string_view text;
    std::int64_t value = 0;
    Origin at;

    [[nodiscard]] bool is(std::string_view punctuation) const {
        return kind == TokenKind::Punctuation && text == punctuation;
    }
};

} // namespace tessera::isa::assembly
