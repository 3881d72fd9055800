// SPDX-License-Identifier: MIT
#include "models/isa/assembler/operand.h"
#include "models/isa/assembler/parse_state.h"
#include "models/isa/assembler/text_stack.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tessera::isa::assembly {
namespace {

constexpr unsigned kMaxParentheses = 64;
constexpr std::int64_t kHalfInfinity = 0x7c00;
constexpr std::int64_t kHalfNan = 0x7ece; ///< the quiet NaN that the machine makes
constexpr std::int64_t kHalfSign = 0x8000;

struct BinaryOperator {
    std::string_view text;
    NodeKind kind;
    int strength;
};

/// The strengths of GNU assemblers, which differ from C: shifts bind like `*`, and `&`, `|`, `^`
/// bind tighter than `+`.
constexpr std::array kBinaryOperators = {
    BinaryOperator{"*", NodeKind::Multiply, 6},
    BinaryOperator{"/", NodeKind::Divide, 6},
    BinaryOperator{"%", NodeKind::Remainder, 6},
    BinaryOperator{"<<", NodeKind::ShiftLeft, 6},
    BinaryOperator{">>", NodeKind::ShiftRight, 6},
    BinaryOperator{"&", NodeKind::And, 5},
    BinaryOperator{"|", NodeKind::Or, 5},
    BinaryOperator{"^", NodeKind::Xor, 5},
    BinaryOperator{"+", NodeKind::Add, 4},
    BinaryOperator{"-", NodeKind::Subtract, 4},
    BinaryOperator{"==", NodeKind::Equal, 3},
    BinaryOperator{"!=", NodeKind::NotEqual, 3},
    BinaryOperator{"<>", NodeKind::NotEqual, 3},
    BinaryOperator{"<", NodeKind::Less, 3},
    BinaryOperator{"<=", NodeKind::LessEqual, 3},
    BinaryOperator{">", NodeKind::Greater, 3},
    BinaryOperator{">=", NodeKind::GreaterEqual, 3},
    BinaryOperator{"&&", NodeKind::LogicalAnd, 2},
    BinaryOperator{"||", NodeKind::LogicalOr, 1},
};

/// A number of at most two digits at the front of `text`, which is taken off; 0 if there is none.
std::uint8_t take_small_number(std::string_view& text) {
    std::uint8_t value = 0;
    std::size_t digits = 0;
    for (; digits < std::min<std::size_t>(2, text.size()) && is_digit(text[digits]); ++digits) {
        value = static_cast<std::uint8_t>(10 * value + (text[digits] - '0'));
    }
    text.remove_prefix(digits);
    return value;
}

bool take_word(std::string_view& text, std::string_view word) {
    const bool is_there = text.substr(0, word.size()) == word;
    text.remove_prefix(is_there ? word.size() : 0);
    return is_there;
}

/// "abs19@s2", "relative@16@s2"
std::optional<RelocationField> field_of(std::string_view text) {
    RelocationField field;
    field.is_relative = take_word(text, "relative@");
    if (!field.is_relative && !take_word(text, "abs")) {
        return std::nullopt;
    }
    field.bits = take_small_number(text);
    if (take_word(text, "@s")) {
        field.shift = take_small_number(text);
    }
    const bool is_one = text.empty() && field.bits >= 1 && field.bits <= 32 && field.shift <= 8;
    return is_one ? std::optional(field) : std::nullopt;
}

/// Where a relocation begins in the token of a name; npos where there is none.
std::size_t relocation_at(std::string_view name) {
    for (std::size_t at = name.find('@'); at != std::string_view::npos;
         at = name.find('@', at + 1)) {
        if (field_of(name.substr(at + 1))) {
            return at;
        }
    }
    return std::string_view::npos;
}

bool names_register(std::string_view dollar_name) {
    return find_register(dollar_name.substr(1)) || find_csr(dollar_name.substr(1)) != nullptr;
}

class ExpressionParser {
public:
    explicit ExpressionParser(ParseState& state) : state_(state) {}

    std::optional<Expression> run() {
        const auto begin = static_cast<std::uint32_t>(state_.unit.nodes.size());
        if (!parse(1) || !take_field()) {
            return std::nullopt;
        }
        if (field_) {
            push(NodeKind::Field, field_at_);
            state_.unit.nodes.back().value = field_->packed();
        }
        return Expression{begin, static_cast<std::uint32_t>(state_.unit.nodes.size())};
    }

private:
    bool parse(int least_strength) {
        if (!parse_unary()) {
            return false;
        }
        while (const BinaryOperator* binary = next_operator(least_strength)) {
            const Origin at = state_.cursor.take().at;
            if (!parse(binary->strength + 1)) {
                return false;
            }
            push(binary->kind, at);
        }
        return true;
    }

    [[nodiscard]] const BinaryOperator* next_operator(int least_strength) const {
        const Token& token = state_.cursor.peek();
        if (token.kind != TokenKind::Punctuation) {
            return nullptr;
        }
        for (const BinaryOperator& binary : kBinaryOperators) {
            if (binary.text == token.text) {
                return binary.strength >= least_strength ? &binary : nullptr;
            }
        }
        return nullptr;
    }

    bool parse_unary() {
        std::vector<std::pair<NodeKind, Origin>> operators;
        while (true) {
            const Token token = state_.cursor.peek();
            const Token& after = state_.cursor.peek(1);
            if (token.is("-") && (after.kind == TokenKind::Half || is_half_name(after))) {
                state_.cursor.take();
                push_constant(half_value(state_.cursor.take()) ^ kHalfSign, token.at);
                break;
            }
            if (token.is("-") || token.is("~") || token.is("!") || token.is("+")) {
                state_.cursor.take();
                if (!token.is("+")) {
                    operators.emplace_back(token.is("-")   ? NodeKind::Negate
                                           : token.is("~") ? NodeKind::Invert
                                                           : NodeKind::Not,
                                           token.at);
                }
                continue;
            }
            if (!parse_primary()) {
                return false;
            }
            break;
        }
        for (auto unary = operators.rbegin(); unary != operators.rend(); ++unary) {
            push(unary->first, unary->second);
        }
        return true;
    }

    [[nodiscard]] static bool is_half_name(const Token& token) {
        return token.kind == TokenKind::Identifier &&
               (token.text == "infh" || token.text == "nanh");
    }

    [[nodiscard]] static std::int64_t half_value(const Token& token) {
        return token.kind == TokenKind::Half ? token.value
               : token.text == "infh"        ? kHalfInfinity
                                             : kHalfNan;
    }

    bool parse_primary() {
        const Token token = state_.cursor.peek();
        switch (token.kind) {
        case TokenKind::Number:
        case TokenKind::Half:
            push_constant(token.value, token.at);
            break;
        case TokenKind::LabelReference:
            state_.cursor.take();
            return push_numeric_label(token);
        case TokenKind::Identifier:
            state_.cursor.take();
            return push_name(token);
        case TokenKind::BigNumber:
            state_.diagnostics.add(token.at, "number: got " + std::string(token.text) +
                                                 ", expected at most 64 bits");
            return false;
        case TokenKind::Real:
            state_.diagnostics.add(token.at, "number: got " + std::string(token.text) +
                                                 ", expected an integer or a half such as 1.0h");
            return false;
        default:
            return parse_punctuation(token);
        }
        state_.cursor.take();
        return true;
    }

    bool parse_punctuation(const Token& token) {
        if (token.is("$") && state_.cursor.peek(1).kind == TokenKind::Identifier) {
            return parse_dollar_name(token);
        }
        if (token.is(".")) {
            state_.cursor.take();
            push(NodeKind::Place, token.at);
            state_.unit.nodes.back().location = state_.here;
            return true;
        }
        if (!token.is("(")) {
            return fail(token, "a number, symbol or parenthesis");
        }
        if (parentheses_ == kMaxParentheses) {
            state_.diagnostics.add(token.at,
                                   "expression: got more than 64 nested parentheses, expected at "
                                   "most 64");
            return false;
        }
        state_.cursor.take();
        ++parentheses_;
        if (!parse(1)) {
            return false;
        }
        --parentheses_;
        return state_.cursor.accept(")") || fail(state_.cursor.peek(), "an operator or )");
    }

    /// `$name` is a symbol unless it is a register.
    bool parse_dollar_name(const Token& dollar) {
        const Token name = dollar_name(state_);
        if (names_register(name.text)) {
            return fail(name, "a number, symbol or parenthesis");
        }
        return push_name({TokenKind::Identifier, name.text, 0, dollar.at});
    }

    /// `@abs19@s2` behind the whole expression; behind a name it is part of the name's token.
    bool take_field() {
        if (!state_.cursor.peek().is("@")) {
            return true;
        }
        const Token at = state_.cursor.take();
        const Token text = state_.cursor.take();
        return set_field(text.kind == TokenKind::Identifier ? text.text : std::string_view{}, at);
    }

    bool set_field(std::string_view text, const Token& at) {
        const auto field = field_of(text);
        if (!field || field_) {
            state_.diagnostics.add(
                at.at, field_
                           ? "relocation: got a second one, expected one in an expression"
                           : "relocation: got '@" + std::string(text.substr(0, 40)) +
                                 "', expected @absN or @relative@N, @sK behind it, as @abs19@s2");
            return false;
        }
        field_ = field;
        field_at_ = at.at;
        return true;
    }

    bool fail(const Token& token, std::string_view expected) {
        state_.diagnostics.add(token.at, "expression: got " + text_of(token) + ", expected " +
                                             std::string(expected));
        return false;
    }

    bool push_numeric_label(const Token& token) {
        auto& labels = state_.unit.scopes[state_.file].numeric_labels[token.value];
        if (token.text.back() == 'f') {
            push(NodeKind::Forward, token.at);
            state_.unit.nodes.back().value = token.value;
            state_.unit.nodes.back().scope = state_.file;
            state_.unit.nodes.back().location = {static_cast<std::uint32_t>(labels.size()), 0};
            return true;
        }
        if (labels.empty()) {
            const std::string number = std::to_string(token.value);
            state_.diagnostics.add(token.at, "label " + number +
                                                 "b: no such label precedes, expected '" + number +
                                                 ":' above");
            return false;
        }
        push(NodeKind::Place, token.at);
        state_.unit.nodes.back().location = labels.back();
        return true;
    }

    bool push_name(Token token) {
        if (is_half_name(token)) {
            push_constant(half_value(token), token.at);
            return true;
        }
        if (const std::size_t at = relocation_at(token.text); at != std::string_view::npos) {
            if (!set_field(token.text.substr(at + 1), token)) {
                return false;
            }
            token.text = state_.unit.names.intern(token.text.substr(0, at));
        }
        const auto& symbols = state_.unit.scopes[state_.file].symbols;
        const auto found = symbols.find(token.text);
        push(NodeKind::Symbol, token.at);
        Node& node = state_.unit.nodes.back();
        node.name = token.text;
        node.scope = state_.file;
        // An assigned symbol has the value of here; a label has only one, and may turn out weak.
        if (found != symbols.end() && found->second.kind == Symbol::Kind::Assigned) {
            node.kind = NodeKind::Definition;
            node.value = found->second.definition;
        }
        return true;
    }

    void push_constant(std::int64_t value, const Origin& at) {
        push(NodeKind::Constant, at);
        state_.unit.nodes.back().value = value;
    }

    void push(NodeKind kind, const Origin& at) {
        Node node;
        node.kind = kind;
        node.at = at;
        state_.unit.nodes.push_back(node);
    }

    ParseState& state_;
    unsigned parentheses_ = 0;
    std::optional<RelocationField> field_;
    Origin field_at_;
};

} // namespace

std::string text_of(const Token& token) {
    switch (token.kind) {
    case TokenKind::Newline:
        return "the end of the line";
    case TokenKind::String:
        return "a string";
    default:
        return "'" + std::string(token.text.substr(0, 40)) + "'";
    }
}

Token dollar_name(ParseState& state) {
    Token name = state.cursor.take();
    name.kind = TokenKind::Identifier;
    name.text = state.unit.names.intern("$" + std::string(state.cursor.take().text));
    return name;
}

std::optional<Expression> parse_expression(ParseState& state) {
    return ExpressionParser(state).run();
}

} // namespace tessera::isa::assembly
