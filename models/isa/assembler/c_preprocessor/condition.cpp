// SPDX-License-Identifier: MIT
#include "models/isa/assembler/c_preprocessor/condition.h"

#include <array>
#include <limits>

namespace tessera::isa::assembly::cpp {
namespace {

constexpr unsigned kMostDepth = 200;

struct Value {
    std::uint64_t bits = 0;
    bool is_unsigned = false;
};

struct Operator {
    std::string_view text;
    unsigned strength;
};
constexpr std::array<Operator, 18> kOperators = {{{"*", 10},
                                                  {"/", 10},
                                                  {"%", 10},
                                                  {"+", 9},
                                                  {"-", 9},
                                                  {"<<", 8},
                                                  {">>", 8},
                                                  {"<", 7},
                                                  {"<=", 7},
                                                  {">", 7},
                                                  {">=", 7},
                                                  {"==", 6},
                                                  {"!=", 6},
                                                  {"&", 5},
                                                  {"^", 4},
                                                  {"|", 3},
                                                  {"&&", 2},
                                                  {"||", 1}}};

bool less(Value left, Value right, bool is_unsigned) {
    return is_unsigned
               ? left.bits < right.bits
               : static_cast<std::int64_t>(left.bits) < static_cast<std::int64_t>(right.bits);
}

std::uint64_t shifted(Value left, Value right, bool is_left) {
    const std::uint64_t amount = right.bits & 63U;
    if (is_left) {
        return left.bits << amount;
    }
    return left.is_unsigned
               ? left.bits >> amount
               : static_cast<std::uint64_t>(static_cast<std::int64_t>(left.bits) >> amount);
}

class Expression {
public:
    Expression(std::vector<Lexeme> lexemes, const Origin& directive, const MacroTable& macros,
               Expander& expander, Diagnostics& diagnostics)
        : lexemes_(std::move(lexemes)), directive_(directive), macros_(macros), expander_(expander),
          diagnostics_(diagnostics) {}

    bool holds() {
        const Value value = choice(true);
        if (!failed_ && next_ < lexemes_.size()) {
            fail("unexpected '" + std::string(lexemes_[next_].text) + "' behind the expression");
        }
        return !failed_ && value.bits != 0;
    }

private:
    Value fail(std::string message) {
        if (!failed_) {
            diagnostics_.add(next_ < lexemes_.size() ? expander_.origin_of(lexemes_[next_])
                                                     : directive_,
                             std::move(message));
        }
        failed_ = true;
        next_ = lexemes_.size();
        return {};
    }

    [[nodiscard]] bool take(std::string_view punctuation) {
        if (next_ < lexemes_.size() && lexemes_[next_].is(punctuation)) {
            ++next_;
            return true;
        }
        return false;
    }

    // `counts`: whether the value matters, so that a division by zero is a mistake.
    Value choice(bool counts) {
        const Value condition = binary(1, counts);
        if (!take("?")) {
            return condition;
        }
        if (++depth_ > kMostDepth) {
            return fail("expression nested too deeply, expected at most 200 levels");
        }
        const Value yes = choice(counts && condition.bits != 0);
        if (!take(":")) {
            return fail("expected ':' of a '?'");
        }
        const Value no = choice(counts && condition.bits == 0);
        --depth_;
        return {condition.bits != 0 ? yes.bits : no.bits, yes.is_unsigned || no.is_unsigned};
    }

    Value binary(unsigned weakest, bool counts) {
        Value left = unary(counts);
        while (next_ < lexemes_.size()) {
            const Operator* found = nullptr;
            for (const Operator& candidate : kOperators) {
                if (lexemes_[next_].is(candidate.text) && candidate.strength >= weakest) {
                    found = &candidate;
                }
            }
            if (found == nullptr) {
                break;
            }
            const std::size_t at = next_++;
            const bool right_counts = counts && !(found->text == "&&" && left.bits == 0) &&
                                      !(found->text == "||" && left.bits != 0);
            const Value right = binary(found->strength + 1, right_counts);
            if (failed_) {
                break;
            }
            left = applied(found->text, left, right, right_counts, at);
        }
        return left;
    }

    Value applied(std::string_view op, Value left, Value right, bool counts, std::size_t at) {
        const bool is_unsigned = left.is_unsigned || right.is_unsigned;
        const auto truth = [](bool holds) { return Value{holds ? 1U : 0U, false}; };
        if (op == "/" || op == "%") {
            return divided(op == "/", left, right, counts, at);
        }
        if (op == "<<" || op == ">>") {
            return {shifted(left, right, op == "<<"), left.is_unsigned};
        }
        switch (op[0]) {
        case '*':
            return {left.bits * right.bits, is_unsigned};
        case '+':
            return {left.bits + right.bits, is_unsigned};
        case '-':
            return {left.bits - right.bits, is_unsigned};
        case '^':
            return {left.bits ^ right.bits, is_unsigned};
        case '=':
            return truth(left.bits == right.bits);
        case '!':
            return truth(left.bits != right.bits);
        case '<':
            return truth(op == "<" ? less(left, right, is_unsigned)
                                   : !less(right, left, is_unsigned));
        case '>':
            return truth(op == ">" ? less(right, left, is_unsigned)
                                   : !less(left, right, is_unsigned));
        case '&':
            return op == "&" ? Value{left.bits & right.bits, is_unsigned}
                             : truth(left.bits != 0 && right.bits != 0);
        default:
            return op == "|" ? Value{left.bits | right.bits, is_unsigned}
                             : truth(left.bits != 0 || right.bits != 0);
        }
    }

    Value divided(bool wants_quotient, Value left, Value right, bool counts, std::size_t at) {
        const bool is_unsigned = left.is_unsigned || right.is_unsigned;
        if (right.bits == 0) {
            if (counts) {
                next_ = at;
                return fail("division by zero");
            }
            return {0, is_unsigned};
        }
        if (is_unsigned) {
            return {wants_quotient ? left.bits / right.bits : left.bits % right.bits, true};
        }
        const auto dividend = static_cast<std::int64_t>(left.bits);
        const auto divisor = static_cast<std::int64_t>(right.bits);
        if (divisor == -1) { // the smallest integer has no positive partner
            return {wants_quotient ? 0 - left.bits : 0, false};
        }
        return {
            static_cast<std::uint64_t>(wants_quotient ? dividend / divisor : dividend % divisor),
            false};
    }

    Value unary(bool counts) {
        if (++depth_ > kMostDepth) {
            return fail("expression nested too deeply, expected at most 200 levels");
        }
        Value value;
        if (take("-")) {
            value = unary(counts);
            value.bits = 0 - value.bits;
        } else if (take("+")) {
            value = unary(counts);
        } else if (take("~")) {
            value = unary(counts);
            value.bits = ~value.bits;
        } else if (take("!")) {
            value = {unary(counts).bits == 0 ? 1U : 0U, false};
        } else if (take("(")) {
            value = choice(counts);
            if (!take(")")) {
                return fail("expected ')'");
            }
        } else {
            value = primary();
        }
        --depth_;
        return value;
    }

    Value primary() {
        if (next_ == lexemes_.size()) {
            return fail("expected a value at the end of the expression");
        }
        const Lexeme& lexeme = lexemes_[next_];
        if (lexeme.kind == LexemeKind::Number) {
            return number(lexeme.text);
        }
        if (lexeme.kind == LexemeKind::Character) {
            ++next_;
            return character(lexeme.text);
        }
        if (lexeme.kind == LexemeKind::Identifier) {
            ++next_;
            return lexeme.text == "defined" ? defined() : Value{};
        }
        return fail("expected a value, got '" + std::string(lexeme.text) + "'");
    }

    /// The last character of the constant; of escapes only the usual ones.
    static Value character(std::string_view text) {
        const char last = text[text.size() - 2];
        constexpr std::string_view kEscaped = "0abtnvfr";
        constexpr std::string_view kMeaning("\0\a\b\t\n\v\f\r", 8);
        const std::size_t known = kEscaped.find(last);
        const bool is_escape =
            text.size() == 4 && text[1] == '\\' && known != std::string_view::npos;
        return {static_cast<std::uint64_t>(is_escape ? kMeaning[known] : last), false};
    }

    // The expander left the name behind it alone.
    Value defined() {
        const bool has_parenthesis = take("(");
        if (next_ == lexemes_.size() || lexemes_[next_].kind != LexemeKind::Identifier) {
            return fail("expected a macro's name behind 'defined'");
        }
        const bool is_defined = macros_.find(lexemes_[next_++].text) != nullptr;
        if (has_parenthesis && !take(")")) {
            return fail("expected ')'");
        }
        return {is_defined ? 1U : 0U, false};
    }

    Value number(std::string_view text) {
        const std::string_view whole = text;
        unsigned base = 10;
        if (text.size() > 2 && text[0] == '0' &&
            ((text[1] | 0x20) == 'x' || (text[1] | 0x20) == 'b')) {
            base = (text[1] | 0x20) == 'x' ? 16 : 2;
            text.remove_prefix(2);
        } else if (text.size() > 1 && text[0] == '0') {
            base = 8;
        }
        Value value;
        std::size_t digits = 0;
        for (; digits < text.size(); ++digits) {
            const char c = static_cast<char>(text[digits] | 0x20);
            const unsigned digit = text[digits] >= '0' && text[digits] <= '9'
                                       ? static_cast<unsigned>(text[digits] - '0')
                                   : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a') + 10
                                                          : 99;
            if (digit >= base) {
                break;
            }
            if (value.bits > (std::numeric_limits<std::uint64_t>::max() - digit) / base) {
                return fail("number '" + std::string(whole) + "' is too large, expected 64 bits");
            }
            value.bits = value.bits * base + digit;
        }
        const std::string_view suffix = text.substr(digits);
        value.is_unsigned =
            suffix.find_first_of("uU") != std::string_view::npos ||
            value.bits > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        if (digits == 0 || suffix.size() > 3 ||
            suffix.find_first_not_of("uUlL") != std::string_view::npos) {
            return fail("'" + std::string(whole) + "' is no integer");
        }
        ++next_;
        return value;
    }

    std::vector<Lexeme> lexemes_;
    Origin directive_;
    const MacroTable& macros_;
    Expander& expander_;
    Diagnostics& diagnostics_;
    std::size_t next_ = 0;
    unsigned depth_ = 0;
    bool failed_ = false;
};

} // namespace

bool condition_holds(std::span<const Lexeme> expression, const Origin& directive,
                     const MacroTable& macros, Expander& expander, Diagnostics& diagnostics) {
    if (expression.empty()) {
        diagnostics.add(directive, "expected an expression");
        return false;
    }
    return Expression(expander.expand_condition({expression.begin(), expression.end()}), directive,
                      macros, expander, diagnostics)
        .holds();
}

} // namespace tessera::isa::assembly::cpp
