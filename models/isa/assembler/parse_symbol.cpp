// SPDX-License-Identifier: MIT
// Directives about symbols, and messages of the source's own.
#include "models/isa/assembler/lexer.h"
#include "models/isa/assembler/statement_parser.h"

namespace tessera::isa::assembly {

/// The symbol of this name, free to be defined as `kind`; null when it is something else already.
Symbol* StatementParser::define(const Token& name, Symbol::Kind kind) {
    Symbol& symbol = state_.unit.scopes[state_.file].symbols[name.text];
    const bool is_again = symbol.kind == Symbol::Kind::Label || symbol.is_fixed ||
                          (symbol.kind == Symbol::Kind::Assigned && kind != symbol.kind);
    if (is_again) {
        state_.diagnostics.add(
            name.at, "symbol '" + std::string(name.text) + "': defined in line " +
                         std::to_string(symbol.at.at.line) + " already, expected a new name");
        return nullptr;
    }
    symbol.kind = kind;
    symbol.at = name.at;
    return &symbol;
}

void StatementParser::assign(const Token& name, bool is_fixed) {
    const auto expression = parse_expression(state_);
    if (!expression) {
        skip_statement();
        return;
    }
    const auto& symbols = state_.unit.scopes[state_.file].symbols;
    const auto before = symbols.find(name.text);
    const bool is_new = before == symbols.end() || before->second.kind == Symbol::Kind::Declared;
    if (is_fixed && !is_new) {
        state_.diagnostics.add(name.at, "symbol '" + std::string(name.text) +
                                            "': defined in line " +
                                            std::to_string(before->second.at.at.line) +
                                            " already, expected a new name");
        return;
    }
    Definition definition;
    definition.expression = *expression;
    definition.at = name.at;
    definition.known = state_.evaluator.early(*expression);
    if (Symbol* symbol = define(name, Symbol::Kind::Assigned)) {
        symbol->is_fixed = is_fixed;
        symbol->definition = static_cast<std::uint32_t>(state_.unit.definitions.size());
        state_.unit.definitions.push_back(definition);
    }
}

std::optional<Token> StatementParser::name_argument(const Token& directive_name) {
    Token token = state_.cursor.peek();
    if (token.kind == TokenKind::Identifier || token.kind == TokenKind::String) {
        token.text = state_.unit.names.intern(token.text);
        state_.cursor.take();
        return token;
    }
    fail(token, directive_name.text, "a name");
    skip_statement();
    return std::nullopt;
}

void StatementParser::do_set(const Token& name) {
    const auto symbol = name_argument(name);
    if (symbol && expect_comma(name)) {
        assign(*symbol, directive_->argument == 1);
    }
}

void StatementParser::do_binding(const Token& name) {
    do {
        if (state_.cursor.peek().is("@")) { // `.globl f, @function`: the kind has no effect
            skip_statement();
            return;
        }
        const auto symbol_name = name_argument(name);
        if (!symbol_name) {
            return;
        }
        Symbol& symbol = state_.unit.scopes[state_.file].symbols[symbol_name->text];
        symbol.is_global = directive_->argument != 2 && symbol_name->text.substr(0, 2) != ".L";
        symbol.is_weak = directive_->argument == 1 || (symbol.is_weak && symbol.is_global);
    } while (state_.cursor.accept(","));
}

void StatementParser::do_size(const Token& name) {
    const auto symbol = name_argument(name);
    if (!symbol || !expect_comma(name)) {
        return;
    }
    const auto expression = parse_expression(state_);
    if (!expression) {
        skip_statement();
        return;
    }
    state_.unit.scopes[state_.file].symbols[symbol->text].bytes = *expression;
}

void StatementParser::do_nothing(const Token&) {
    skip_statement();
}

void StatementParser::do_message(const Token& name) {
    std::string message(name.text);
    if (state_.cursor.peek().kind == TokenKind::String) {
        message += ": " + unescaped(state_.cursor.peek().text);
    }
    skip_statement();
    if (directive_->argument == 1) {
        state_.diagnostics.warn(name.at, std::move(message));
    } else {
        state_.diagnostics.add(name.at, std::move(message));
    }
}

} // namespace tessera::isa::assembly
