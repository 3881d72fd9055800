// SPDX-License-Identifier: MIT
// Directives about symbols, and messages of the source's own.
#include "models/isa/assembler/lexer.h"
#include "models/isa/assembler/parser.h"
#include "models/isa/assembler/statement_parser.h"

#include <algorithm>

namespace tessera::isa::assembly {

/// The symbol of this name, free to be defined as `kind`; null when it is something else already.
Symbol* StatementParser::define(const Token& name, Symbol::Kind kind) {
    Symbol& symbol = state_.unit.scopes[state_.file].symbols[name.text];
    const bool is_again = symbol.kind == Symbol::Kind::Label ||
                          symbol.kind == Symbol::Kind::Common || symbol.is_fixed ||
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
    if (token.is("$") && state_.cursor.peek(1).kind == TokenKind::Identifier) {
        return dollar_name(state_);
    }
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
        symbol.is_local = directive_->argument == 2;
        symbol.is_global = !symbol.is_local && symbol_name->text.substr(0, 2) != ".L";
        symbol.is_weak = directive_->argument == 1 || (symbol.is_weak && symbol.is_global);
    } while (state_.cursor.accept(","));
}

void StatementParser::do_scatters(const Token& name) {
    do {
        const auto symbol_name = name_argument(name);
        if (!symbol_name) {
            return;
        }
        state_.unit.scopes[state_.file].symbols[symbol_name->text].scatters = true;
    } while (state_.cursor.accept(","));
}

/// `, bytes[, alignment]` behind the name of a common symbol; empty after a mistake.
std::optional<StatementParser::CommonSize> StatementParser::common_size(const Token& name) {
    if (!expect_comma(name)) {
        return std::nullopt;
    }
    const auto bytes = known_number(name, "a number of bytes");
    if (!bytes) {
        return std::nullopt;
    }
    if (*bytes < 0 || *bytes > kMaxBytes) {
        state_.diagnostics.add(name.at, std::string(name.text) + ": got " + std::to_string(*bytes) +
                                            " bytes, expected 0.." + std::to_string(kMaxBytes));
        return std::nullopt;
    }
    constexpr std::uint32_t kMostByItself = 16;
    CommonSize size{static_cast<std::uint32_t>(*bytes), 1};
    while (2 * size.alignment <= std::min(size.bytes, kMostByItself)) {
        size.alignment *= 2;
    }
    if (state_.cursor.accept(",")) {
        const auto alignment = known_number(name, "an alignment in bytes");
        if (!alignment) {
            return std::nullopt;
        }
        if (*alignment < 1 || *alignment > kMaxAlignment || (*alignment & (*alignment - 1)) != 0) {
            state_.diagnostics.add(
                name.at, std::string(name.text) + ": got alignment " + std::to_string(*alignment) +
                             ", expected a power of two, at most " + std::to_string(kMaxAlignment));
            return std::nullopt;
        }
        size.alignment = static_cast<std::uint32_t>(*alignment);
    }
    return size;
}

/// `.comm name, bytes[, alignment]`: shared with the sources that have it too.
void StatementParser::do_common(const Token& name) {
    const auto symbol_name = name_argument(name);
    const auto size = symbol_name ? common_size(name) : std::nullopt;
    if (!size) {
        return;
    }
    Symbol& known = state_.unit.scopes[state_.file].symbols[symbol_name->text];
    if (known.is_local) {
        if (Symbol* symbol = define(*symbol_name, Symbol::Kind::Label)) {
            place_in_bss(*symbol, *size, name.at);
        }
        return;
    }
    const bool is_again = known.kind == Symbol::Kind::Common;
    Symbol* symbol = is_again ? &known : define(*symbol_name, Symbol::Kind::Common);
    if (symbol == nullptr || !charge(size->bytes, name.at)) {
        return;
    }
    symbol->is_global = true;
    symbol->common_bytes = std::max(symbol->common_bytes, size->bytes);
    symbol->common_alignment = std::max(symbol->common_alignment, size->alignment);
}

void StatementParser::do_local_common(const Token& name) {
    const auto symbol_name = name_argument(name);
    const auto size = symbol_name ? common_size(name) : std::nullopt;
    if (!size) {
        return;
    }
    if (Symbol* symbol = define(*symbol_name, Symbol::Kind::Label)) {
        place_in_bss(*symbol, *size, name.at);
    }
}

void StatementParser::place_in_bss(Symbol& symbol, CommonSize size, const Origin& at) {
    const std::uint32_t here = section_;
    enter_section(".bss", 0, "", false);
    section().alignment = std::max(section().alignment, size.alignment);
    const std::uint32_t padding =
        (size.alignment - section().bytes % size.alignment) % size.alignment;
    add_fill(padding, 1, constant(0, at), at);
    symbol.location = {section_, section().bytes};
    symbol.bytes = constant(size.bytes, at);
    add_fill(size.bytes, 1, constant(0, at), at);
    section_ = here;
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

void StatementParser::do_print(const Token& name) {
    const Token text = state_.cursor.peek();
    if (text.kind != TokenKind::String) {
        fail(text, name.text, "a string");
        skip_statement();
        return;
    }
    state_.cursor.take();
    state_.unit.printed.push_back(unescaped(text.text));
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
