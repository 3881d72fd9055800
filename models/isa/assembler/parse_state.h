// SPDX-License-Identifier: MIT
// What the parts of the parser share, and the grammar of expressions and operands.
#pragma once

#include "models/isa/assembler/diagnostics.h"
#include "models/isa/assembler/evaluate.h"
#include "models/isa/assembler/token.h"
#include "models/isa/assembler/unit.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::isa::assembly {

/// A place in the tokens of a statement, the last of which ends it.
class Cursor {
public:
    /// The tokens, to be filled; the cursor stands before the first.
    std::vector<Token>& restart() {
        next_ = 0;
        return tokens_;
    }
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
    [[nodiscard]] bool is_end(std::size_t ahead) const {
        return next_ + ahead + 1 >= tokens_.size();
    }
    [[nodiscard]] bool at_statement_end() const { return next_ + 1 >= tokens_.size(); }

private:
    std::vector<Token> tokens_{1};
    std::size_t next_ = 0;
};

struct ParseState {
    Unit& unit;
    Evaluator& evaluator;
    Diagnostics& diagnostics;
    std::uint32_t file = 0; ///< the source
    Cursor cursor;
    Location here; ///< what `.` means in the current statement
};

/// The token as an error message names it.
[[nodiscard]] std::string text_of(const Token& token);

/// Empty after a mistake, which is then reported.
[[nodiscard]] std::optional<Expression> parse_expression(ParseState& state);
/// `$name` is a symbol where it is no register, unless control registers are meant.
[[nodiscard]] std::optional<Operand> parse_operand(ParseState& state, bool is_control_register);

/// Takes `$` and the name behind it, which is there: one name.
[[nodiscard]] Token dollar_name(ParseState& state);

} // namespace tessera::isa::assembly
