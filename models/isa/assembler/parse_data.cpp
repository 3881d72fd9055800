// SPDX-License-Identifier: MIT
// Directives that put data into a section or move its place.
#include "models/isa/assembler/lexer.h"
#include "models/isa/assembler/parser.h"
#include "models/isa/assembler/statement_parser.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>

namespace tessera::isa::assembly {
namespace {

std::optional<double> named_real(std::string_view name) {
    if (name == "inf" || name == "infinity" || name == "Inf" || name == "Infinity") {
        return std::numeric_limits<double>::infinity();
    }
    if (name == "nan" || name == "NaN") {
        return std::numeric_limits<double>::quiet_NaN();
    }
    return std::nullopt;
}

/// The value of a token; empty when it is no number.
std::optional<double> real_value(const Token& token) {
    if (token.kind == TokenKind::Identifier) {
        return named_real(token.text);
    }
    if (token.kind == TokenKind::Number) {
        return static_cast<double>(token.value);
    }
    if (token.kind != TokenKind::Real && token.kind != TokenKind::BigNumber) {
        return std::nullopt;
    }
    double value = 0;
    const char* const end = token.text.data() + token.text.size();
    const auto result = std::from_chars(token.text.data(), end, value);
    if (result.ptr != end) {
        return std::nullopt; // hexadecimal digits
    }
    if (result.ec == std::errc::result_out_of_range) {
        return token.text.find('-') == std::string_view::npos
                   ? std::numeric_limits<double>::infinity()
                   : 0.0;
    }
    return value;
}

} // namespace

Expression StatementParser::constant(std::int64_t value, const Origin& at) {
    Node node;
    node.value = value;
    node.at = at;
    const auto begin = static_cast<std::uint32_t>(state_.unit.nodes.size());
    state_.unit.nodes.push_back(node);
    return {begin, begin + 1};
}

/// An expression whose value must be known here.
std::optional<std::int64_t> StatementParser::known_number(const Token& name,
                                                          std::string_view what) {
    const auto expression = parse_expression(state_);
    if (!expression) {
        skip_statement();
        return std::nullopt;
    }
    const auto value = state_.evaluator.early(*expression);
    if (!value || !value->is_absolute()) {
        state_.diagnostics.add(name.at, std::string(name.text) +
                                            ": got a value that is not known yet, expected " +
                                            std::string(what));
        return std::nullopt;
    }
    return value->number;
}

void StatementParser::do_data(const Token&) {
    if (state_.cursor.at_statement_end()) {
        return;
    }
    Item item;
    item.kind = Item::Kind::Data;
    item.element_bytes = directive_->argument;
    item.index = static_cast<std::uint32_t>(state_.unit.data.size());
    const Origin at = state_.cursor.peek().at;
    do {
        const auto expression = parse_expression(state_);
        if (!expression) {
            skip_statement();
            break;
        }
        state_.unit.data.push_back(*expression);
        item.bytes += item.element_bytes;
        state_.here.offset += item.element_bytes; // `.` is the address of its own element
    } while (state_.cursor.accept(","));
    if (item.bytes != 0) {
        add_item(item, at);
    }
}

void StatementParser::do_real(const Token& name) {
    if (state_.cursor.at_statement_end()) {
        return;
    }
    Item item;
    item.kind = Item::Kind::Data;
    item.element_bytes = directive_->argument;
    item.index = static_cast<std::uint32_t>(state_.unit.data.size());
    do {
        const auto value = real_bits(name, item.element_bytes);
        if (!value) {
            return;
        }
        state_.unit.data.push_back(*value);
        item.bytes += item.element_bytes;
    } while (state_.cursor.accept(","));
    add_item(item, name.at);
}

/// The bits of a number of 4 or 8 bytes; empty after a mistake.
std::optional<Expression> StatementParser::real_bits(const Token& name, std::uint32_t bytes) {
    const bool is_negative = state_.cursor.accept("-");
    if (!is_negative) {
        state_.cursor.accept("+");
    }
    const Token token = state_.cursor.peek();
    const auto value = real_value(token);
    if (!value) {
        fail(token, name.text, "a number such as 1.5");
        skip_statement();
        return std::nullopt;
    }
    state_.cursor.take();
    const double signed_value = is_negative ? -*value : *value;
    return constant(
        bytes == 8 ? std::bit_cast<std::int64_t>(signed_value)
                   : std::int64_t{std::bit_cast<std::uint32_t>(static_cast<float>(signed_value))},
        token.at);
}

void StatementParser::do_string(const Token& name) {
    if (state_.cursor.at_statement_end()) {
        return;
    }
    Item item;
    item.kind = Item::Kind::Text;
    item.index = static_cast<std::uint32_t>(state_.unit.text.size());
    do {
        do {
            const Token token = state_.cursor.peek();
            if (token.kind != TokenKind::String) {
                fail(token, name.text, "a string");
                skip_statement();
                return;
            }
            state_.cursor.take();
            const std::string bytes = unescaped(token.text);
            state_.unit.text.insert(state_.unit.text.end(), bytes.begin(), bytes.end());
        } while (state_.cursor.peek().kind == TokenKind::String);
        if (directive_->argument == 1) {
            state_.unit.text.push_back(0);
        }
    } while (state_.cursor.accept(","));
    item.bytes = static_cast<std::uint32_t>(state_.unit.text.size()) - item.index;
    add_item(item, name.at);
}

void StatementParser::add_fill(std::int64_t elements, std::int64_t element_bytes,
                               const Expression& value, const Origin& at) {
    if (elements <= 0 || element_bytes <= 0) {
        return;
    }
    Item item;
    item.kind = Item::Kind::Fill;
    item.element_bytes = static_cast<std::uint32_t>(element_bytes);
    // add_item tells what is too much.
    item.bytes = static_cast<std::uint32_t>(
        std::min<std::int64_t>(elements, std::int64_t{kMaxBytes} + 1) * element_bytes);
    item.index = static_cast<std::uint32_t>(state_.unit.data.size());
    state_.unit.data.push_back(value);
    add_item(item, at);
}

void StatementParser::do_space(const Token& name) {
    const auto bytes = known_number(name, "a number of bytes");
    if (!bytes) {
        return;
    }
    if (*bytes < 0) {
        state_.diagnostics.add(name.at, std::string(name.text) + ": got " + std::to_string(*bytes) +
                                            " bytes, expected 0 or more");
        return;
    }
    auto value = std::optional(constant(0, name.at));
    if (state_.cursor.accept(",")) {
        value = parse_expression(state_);
        if (!value) {
            skip_statement();
            return;
        }
    }
    add_fill(*bytes, 1, *value, name.at);
}

/// `.fill repeat, bytes, value`
void StatementParser::do_fill(const Token& name) {
    const auto elements = known_number(name, "a number of elements");
    if (!elements) {
        return;
    }
    std::optional<std::int64_t> bytes = 1;
    auto value = std::optional(constant(0, name.at));
    if (state_.cursor.accept(",")) {
        bytes = known_number(name, "a number of bytes");
        if (!bytes) {
            return;
        }
        if (state_.cursor.accept(",")) {
            value = parse_expression(state_);
            if (!value) {
                skip_statement();
                return;
            }
        }
    }
    if (*elements < 0 || *bytes < 0 || *bytes > 8) {
        state_.diagnostics.add(name.at, ".fill: got " + std::to_string(*elements) +
                                            " elements of " + std::to_string(*bytes) +
                                            " bytes, expected 0 or more of 0..8");
        return;
    }
    add_fill(*elements, *bytes, *value, name.at);
}

void StatementParser::do_align(const Token& name) {
    const bool is_power = directive_->argument == 1; // .p2align
    const std::string_view expected = is_power ? "0..15" : "a power of two of bytes, at most 32768";
    const auto value = known_number(name, expected);
    if (!value) {
        return;
    }
    if (*value < 0 || *value > (is_power ? 15 : kMaxAlignment) ||
        (!is_power && (*value & (*value - 1)) != 0)) {
        state_.diagnostics.add(name.at, std::string(name.text) + ": got " + std::to_string(*value) +
                                            ", expected " + std::string(expected));
        return;
    }
    std::optional<Expression> fill;
    std::int64_t most_bytes = kMaxAlignment;
    if (state_.cursor.accept(",")) {
        if (!state_.cursor.peek().is(",") && !(fill = parse_expression(state_))) {
            skip_statement();
            return;
        }
        if (state_.cursor.accept(",")) {
            const auto most = known_number(name, "a number of bytes");
            if (!most) {
                return;
            }
            most_bytes = *most;
        }
    }
    const auto alignment =
        std::max(1U, static_cast<std::uint32_t>(is_power ? 1 << *value : *value));
    const std::uint32_t bytes = (alignment - section().bytes % alignment) % alignment;
    if (bytes > most_bytes) {
        return;
    }
    section().alignment = std::max(section().alignment, alignment);
    if (fill) {
        add_fill(bytes, 1, *fill, name.at);
    } else if (bytes != 0) {
        Item item;
        item.kind = Item::Kind::Padding;
        item.bytes = bytes;
        add_item(item, name.at);
    }
}

void StatementParser::do_origin(const Token& name) {
    const auto expression = parse_expression(state_);
    if (!expression) {
        skip_statement();
        return;
    }
    auto fill = std::optional(constant(0, name.at));
    if (state_.cursor.accept(",") && !(fill = parse_expression(state_))) {
        skip_statement();
        return;
    }
    const auto value = state_.evaluator.early(*expression);
    const bool is_here = value && (value->is_absolute() || value->section == section_);
    if (!is_here || value->number < section().bytes) {
        state_.diagnostics.add(name.at,
                               ".org: got " +
                                   (is_here ? "offset " + std::to_string(value->number) +
                                                  " at offset " + std::to_string(section().bytes)
                                            : std::string("a value that is not known yet")) +
                                   ", expected an offset in this section that is not behind");
        return;
    }
    add_fill(value->number - section().bytes, 1, *fill, name.at);
}

} // namespace tessera::isa::assembly
