// SPDX-License-Identifier: MIT
#include "models/isa/assembler/c_preprocessor/lexeme.h"

#include <array>

namespace tessera::isa::assembly::cpp {
namespace {

constexpr std::array<std::string_view, 9> kDoubles = {
    "##", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>"};

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// A preprocessing number: also 1f, 0x2fu, 1.0h. Unlike C, hexadecimal `0xe+X` ends before the `+`.
std::size_t number_length(std::string_view text) {
    const bool is_hexadecimal = text.size() > 1 && text[0] == '0' && (text[1] | 0x20) == 'x';
    std::size_t end = 1;
    while (end < text.size()) {
        const char c = text[end];
        const char before = static_cast<char>(text[end - 1] | 0x20);
        const bool is_exponent_sign =
            (c == '+' || c == '-') && (before == 'p' || (before == 'e' && !is_hexadecimal));
        if (!is_name_character(c) && c != '.' && !is_exponent_sign) {
            break;
        }
        ++end;
    }
    return end;
}

/// Length and kind of the lexeme that the text, which is not empty, begins with.
std::size_t lexeme_length(std::string_view text, LexemeKind& kind) {
    const char first = text[0];
    if (is_digit(first) || (first == '.' && text.size() > 1 && is_digit(text[1]))) {
        kind = LexemeKind::Number;
        return number_length(text);
    }
    if (is_name_character(first)) {
        kind = LexemeKind::Identifier;
        std::size_t end = 1;
        while (end < text.size() && is_name_character(text[end])) {
            ++end;
        }
        return end;
    }
    kind = LexemeKind::Punctuation;
    if (first == '"' || first == '\'') {
        bool is_closed = false;
        const std::size_t length = quoted_length(text, is_closed);
        if (is_closed) {
            kind = first == '"' ? LexemeKind::String : LexemeKind::Character;
        }
        return length;
    }
    if (text.substr(0, 3) == "...") {
        return 3;
    }
    for (const std::string_view pair : kDoubles) {
        if (text.substr(0, 2) == pair) {
            return 2;
        }
    }
    return 1;
}

} // namespace

std::size_t quoted_length(std::string_view text, bool& is_closed) {
    for (std::size_t end = 1; end < text.size(); ++end) {
        if (text[end] == '\\') {
            ++end;
        } else if (text[end] == text[0]) {
            is_closed = true;
            return end + 1;
        }
    }
    is_closed = false;
    return text.size();
}

void scan(std::string_view text, const std::vector<Piece>& pieces, std::vector<Lexeme>& out) {
    std::size_t piece = 0;
    std::size_t column = 0;
    while (true) {
        const std::size_t blank = column;
        while (column < text.size() && is_blank(text[column])) {
            ++column;
        }
        if (column == text.size()) {
            return;
        }
        while (piece + 1 < pieces.size() && pieces[piece + 1].column <= column) {
            ++piece;
        }
        Lexeme& lexeme = out.emplace_back();
        const Origin& from = pieces[piece].from;
        lexeme.at = from.at;
        lexeme.at.column += static_cast<std::uint32_t>(column) - pieces[piece].column;
        lexeme.trail = from.trail;
        lexeme.blanks = static_cast<std::uint32_t>(column - blank);
        const std::size_t length = lexeme_length(text.substr(column), lexeme.kind);
        lexeme.text = text.substr(column, length);
        column += length;
    }
}

bool is_single_lexeme(std::string_view text, LexemeKind& kind) {
    return !text.empty() && !is_blank(text[0]) && lexeme_length(text, kind) == text.size();
}

} // namespace tessera::isa::assembly::cpp
