// SPDX-License-Identifier: MIT
#include "models/isa/assembler/operand.h"
#include "models/isa/assembler/parse_state.h"

#include <algorithm>
#include <array>

namespace tessera::isa::assembly {
namespace {

bool parse_range(ParseState& state, Operand& operand) {
    const Token last = state.cursor.take();
    const auto report = [&](const std::string& expected) {
        const char* file = operand.file == RegisterFile::Main ? "$m" : "$a";
        state.diagnostics.add(operand.at, "register: got " + std::string(file) +
                                              std::to_string(operand.first) + ":" +
                                              std::string(last.text) + ", expected " + expected);
        return false;
    };
    const std::int64_t width = last.value - operand.first + 1;
    if (last.kind != TokenKind::Number || last.value > 15 || (width != 2 && width != 4)) {
        return report("a pair such as 0:1 or a quad such as 0:3");
    }
    if (operand.first % width != 0) {
        return report(width == 2 ? "a pair that starts at an even number"
                                 : "a quad that starts at a multiple of 4");
    }
    if (operand.file == RegisterFile::Main && width == 4) {
        return report("a pair: there are no quads of $m");
    }
    operand.width = static_cast<std::uint8_t>(width);
    return true;
}

bool parse_broadcast(ParseState& state, Operand& operand) {
    const Token token = state.cursor.take();
    if (token.text == "BL") {
        operand.broadcast = Broadcast::Lower;
    } else if (token.text == "BU") {
        operand.broadcast = Broadcast::Upper;
    } else if (token.text == "B") {
        operand.broadcast = Broadcast::Word;
    } else {
        state.diagnostics.add(token.at, "register: got ':" + std::string(token.text) +
                                            "', expected :BL, :BU, :B or a register range");
        return false;
    }
    return true;
}

bool parse_register(ParseState& state, Operand& operand, const RegisterName& name) {
    operand.shape = OperandShape::Register;
    operand.file = name.file;
    operand.first = name.first;
    operand.width = name.width;
    if (state.cursor.accept(":")) {
        const bool is_range = state.cursor.peek().kind == TokenKind::Number;
        if (!(is_range ? parse_range(state, operand) : parse_broadcast(state, operand))) {
            return false;
        }
    }
    if (state.cursor.accept("+=")) {
        operand.suffix = Suffix::Step;
    } else if (state.cursor.accept("++")) {
        operand.suffix = Suffix::Increment;
    } else if (state.cursor.accept("@")) {
        operand.suffix = Suffix::At;
    } else if (state.cursor.accept(">>")) {
        operand.suffix = Suffix::Shift;
    }
    return true;
}

/// Whether the name behind `$` is no register and nothing behind it says that it is meant as one.
bool starts_symbol(const ParseState& state) {
    const Token& name = state.cursor.peek(1);
    const Token& behind = state.cursor.peek(2);
    constexpr std::array<std::string_view, 4> kSuffixes = {":", "+=", "++", "@"};
    return name.kind == TokenKind::Identifier && !find_register(name.text) &&
           find_csr(name.text) == nullptr &&
           std::none_of(kSuffixes.begin(), kSuffixes.end(),
                        [&](std::string_view suffix) { return behind.is(suffix); });
}

} // namespace

std::optional<Operand> parse_operand(ParseState& state, bool is_control_register) {
    Operand operand;
    operand.at = state.cursor.peek().at;
    if (!state.cursor.peek().is("$") || (!is_control_register && starts_symbol(state))) {
        const auto expression = parse_expression(state);
        if (!expression) {
            return std::nullopt;
        }
        operand.expression = *expression;
        return operand;
    }
    state.cursor.take();
    const Token name = state.cursor.peek();
    if (name.kind == TokenKind::Identifier) {
        state.cursor.take();
        if (const auto known = find_register(name.text)) {
            return parse_register(state, operand, *known) ? std::optional(operand) : std::nullopt;
        }
        operand.csr = find_csr(name.text);
        if (operand.csr != nullptr) {
            operand.shape = OperandShape::Csr;
            return operand;
        }
        state.diagnostics.add(operand.at, "register '$" + std::string(name.text) + "': not known",
                              state.diagnostics.nearest(name.text, dollar_names()));
        return std::nullopt;
    }
    state.diagnostics.add(name.at,
                          "register: got " + text_of(name) + ", expected a register name after $");
    return std::nullopt;
}

} // namespace tessera::isa::assembly
