// SPDX-License-Identifier: MIT
// What the parts of the parser share, and the grammar of expressions and operands.
#pragma once

#include "models/isa/assembler/diagnostics.h"
#include "models/isa/assembler/evaluate.h"
#include "models/isa/assembler/unit.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::isa::assembly {

/// A place in a token list that ends with an End token.
class Cursor {
public:
    explicit Cursor(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

    [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
        return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
    }
    const Token& take() {
        const Token& token = peek();
        next_ = std::min(next_ + 1, tokens_.size() - 1);
        return token;
    }
    bool accept(std::string_view punctuation) {
        const bool is_there = peek().is(punctuation);
        if (is_there) {
            take();
        }
        return is_there;
    }
    /// A newline, `;`, a brace or the end: what ends a statement.
    [[nodiscard]] bool at_statement_end() const {
        const Token& token = peek();
        return token.kind == TokenKind::Newline || token.kind == TokenKind::End || token.is(";") ||
               token.is("{") || token.is("}");
    }

private:
    std::vector<Token> tokens_;
    std::size_t next_ = 0;
};

struct ParseState {
    Cursor cursor;
    Unit& unit;
    Evaluator& evaluator;
    Diagnostics& diagnostics;
    std::uint32_t file = 0;
    Location here; ///< what `.` means in the current statement
};

/// The token as an error message names it.
[[nodiscard]] std::string text_of(const Token& token);

/// Empty after a mistake, which is then reported.
[[nodiscard]] std::optional<Expression> parse_expression(ParseState& state);
[[nodiscard]] std::optional<Operand> parse_operand(ParseState& state);

} // namespace tessera::isa::assembly
