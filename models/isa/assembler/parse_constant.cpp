// SPDX-License-Identifier: MIT
// Directives whose data are no list of elements of one width: numbers of seven bits a byte or of 128
// bits, blocks of one value, and the bytes of a file.
#include "models/isa/assembler/c_preprocessor/include_search.h"
#include "models/isa/assembler/lexer.h"
#include "models/isa/assembler/parser.h"
#include "models/isa/assembler/statement_parser.h"

#include <array>
#include <charconv>
#include <string>

namespace tessera::isa::assembly {
namespace {

constexpr std::uint32_t kLateLeb128Bytes = 5; ///< of a value that is known after the link

/// 128 bits from the least significant word on.
using Octa = std::array<std::uint32_t, 4>;

/// The digits of a number with its prefix; false where it needs more than 128 bits.
bool read_octa(std::string_view text, Octa& words) {
    std::uint64_t base = 10;
    if (text.size() > 1 && text[0] == '0') {
        const char second = text[1];
        base = second == 'x' || second == 'X' ? 16 : second == 'b' || second == 'B' ? 2 : 8;
        text.remove_prefix(base == 8 ? 1 : 2);
    }
    for (const char c : text) {
        unsigned digit = 0;
        std::from_chars(&c, &c + 1, digit, static_cast<int>(base));
        std::uint64_t carry = digit;
        for (std::uint32_t& word : words) {
            carry += word * base;
            word = static_cast<std::uint32_t>(carry);
            carry >>= 32U;
        }
        if (carry != 0) {
            return false;
        }
    }
    return true;
}

void negate(Octa& words) {
    std::uint64_t carry = 1;
    for (std::uint32_t& word : words) {
        carry += std::uint32_t{~word};
        word = static_cast<std::uint32_t>(carry);
        carry >>= 32U;
    }
}

/// As GNU assemblers write it, with no more bytes than it needs.
void append_leb128(std::vector<std::uint8_t>& bytes, std::int64_t value, bool is_signed) {
    while (true) {
        const auto group = static_cast<std::uint8_t>(value & 0x7f);
        value = is_signed ? value >> 7
                          : static_cast<std::int64_t>(static_cast<std::uint64_t>(value) >> 7U);
        const bool is_negative = (group & 0x40U) != 0;
        const bool is_last = is_signed ? value == (is_negative ? -1 : 0) : value == 0;
        bytes.push_back(static_cast<std::uint8_t>(group | (is_last ? 0U : 0x80U)));
        if (is_last) {
            return;
        }
    }
}

} // namespace

/// `.uleb128`, and with an argument `.sleb128`. What is not known here has a fixed width.
void StatementParser::do_leb128(const Token& name) {
    if (state_.cursor.at_statement_end()) {
        return;
    }
    do {
        const auto expression = parse_expression(state_);
        if (!expression) {
            skip_statement();
            return;
        }
        Item item;
        const auto value = state_.evaluator.early(*expression);
        if (value && value->is_absolute()) {
            item.kind = Item::Kind::Text;
            item.index = static_cast<std::uint32_t>(state_.unit.text.size());
            append_leb128(state_.unit.text, value->number, directive_->argument == 1);
            item.bytes = static_cast<std::uint32_t>(state_.unit.text.size()) - item.index;
        } else {
            item.kind = Item::Kind::Leb128;
            item.index = static_cast<std::uint32_t>(state_.unit.data.size());
            item.element_bytes = directive_->argument;
            item.bytes = kLateLeb128Bytes;
            state_.unit.data.push_back(*expression);
        }
        state_.here.offset += item.bytes;
        add_item(item, name.at);
    } while (state_.cursor.accept(","));
}

/// Numbers of 128 bits, written out, or expressions of 64 bits with their sign.
void StatementParser::do_octa(const Token& name) {
    if (state_.cursor.at_statement_end()) {
        return;
    }
    do {
        Item item;
        item.kind = Item::Kind::Data;
        item.element_bytes = 8;
        item.bytes = 16;
        item.index = static_cast<std::uint32_t>(state_.unit.data.size());
        if (!(is_octa_literal() ? octa_literal() : octa_expression())) {
            skip_statement();
            return;
        }
        state_.here.offset += item.bytes;
        add_item(item, name.at);
    } while (state_.cursor.accept(","));
}

/// A sign or none, digits, and a comma or the end.
bool StatementParser::is_octa_literal() const {
    const Cursor& cursor = state_.cursor;
    const std::size_t sign = cursor.peek().is("-") || cursor.peek().is("+") ? 1 : 0;
    const TokenKind kind = cursor.peek(sign).kind;
    const Token& behind = cursor.peek(sign + 1);
    return kind == TokenKind::BigNumber ||
           (kind == TokenKind::Number && cursor.peek(sign).text.front() != '\'' &&
            (behind.is(",") || cursor.is_end(sign + 1)));
}

bool StatementParser::octa_literal() {
    const bool is_negative = state_.cursor.accept("-");
    state_.cursor.accept("+");
    const Token number = state_.cursor.take();
    Octa words{};
    if (!read_octa(number.text, words)) {
        state_.diagnostics.add(number.at, "number: got " + std::string(number.text) +
                                              ", expected at most 128 bits");
        return false;
    }
    if (is_negative) {
        negate(words);
    }
    for (const std::size_t half : {0U, 2U}) {
        const std::uint64_t bits = words[half] | std::uint64_t{words[half + 1]} << 32U;
        const Expression value = constant(static_cast<std::int64_t>(bits), number.at);
        state_.unit.data.push_back(value);
    }
    return true;
}

bool StatementParser::octa_expression() {
    const Origin at = state_.cursor.peek().at;
    const auto low = parse_expression(state_);
    if (!low) {
        return false;
    }
    state_.unit.data.push_back(*low);
    // its sign: `low < 0` is -1 where it is true
    const auto begin = static_cast<std::uint32_t>(state_.unit.nodes.size());
    for (std::uint32_t i = low->begin; i < low->end; ++i) {
        const Node copy = state_.unit.nodes[i];
        state_.unit.nodes.push_back(copy);
    }
    static_cast<void>(constant(0, at));
    Node less;
    less.kind = NodeKind::Less;
    less.at = at;
    state_.unit.nodes.push_back(less);
    state_.unit.data.push_back({begin, static_cast<std::uint32_t>(state_.unit.nodes.size())});
    return true;
}

/// The number of elements of a block; empty after a mistake.
std::optional<std::int64_t> StatementParser::block_length(const Token& name) {
    const auto elements = known_number(name, "a number of elements");
    if (elements && *elements < 0) {
        state_.diagnostics.add(name.at, std::string(name.text) + ": got " +
                                            std::to_string(*elements) +
                                            " elements, expected 0 or more");
        return std::nullopt;
    }
    return elements;
}

/// `.dcb.l number[, value]`, and `.ds.l`
void StatementParser::do_block(const Token& name) {
    const auto elements = block_length(name);
    if (!elements) {
        return;
    }
    auto value = std::optional(constant(0, name.at));
    if (state_.cursor.accept(",") && !(value = parse_expression(state_))) {
        skip_statement();
        return;
    }
    add_fill(*elements, directive_->argument, *value, name.at);
}

void StatementParser::do_real_block(const Token& name) {
    const auto elements = block_length(name);
    if (!elements) {
        return;
    }
    auto value = std::optional(constant(0, name.at));
    if (state_.cursor.accept(",") && !(value = real_bits(name, directive_->argument))) {
        return;
    }
    add_fill(*elements, directive_->argument, *value, name.at);
}

/// `.incbin "file"[, skip[, count]]`
void StatementParser::do_include_bytes(const Token& name) {
    const Token file = state_.cursor.peek();
    if (file.kind != TokenKind::String) {
        fail(file, name.text, "the name of a file in quotes");
        skip_statement();
        return;
    }
    state_.cursor.take();
    const std::string wanted = unescaped(file.text);
    const auto skip = state_.cursor.accept(",") ? optional_number(name) : Given{};
    const auto count = state_.cursor.accept(",") ? optional_number(name) : Given{};
    if (!skip.is_ok || !count.is_ok) {
        return;
    }
    const std::filesystem::path beside =
        std::filesystem::path(map_.files[name.at.at.file]).parent_path();
    const auto* const found = files_.find(wanted, &beside);
    if (found == nullptr) {
        const std::string why = files_.refusal().empty()
                                    ? "not found beside the source or in a folder of -I"
                                    : files_.refusal();
        state_.diagnostics.add(file.at, ".incbin '" + wanted + "': " + why,
                               files_.nearest(wanted, &beside, state_.diagnostics));
        return;
    }
    const auto all = static_cast<std::int64_t>(found->text.size());
    const std::int64_t from = skip.value.value_or(0);
    const std::int64_t bytes = count.value.value_or(all - from);
    if (from < 0 || from > all || bytes < 0 || bytes > all - from) {
        state_.diagnostics.add(file.at, ".incbin '" + wanted + "': got bytes " +
                                            std::to_string(from) + " to " +
                                            std::to_string(from + bytes) + ", expected 0 to " +
                                            std::to_string(all) + ", which the file has");
        return;
    }
    add_bytes(found->text.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(bytes)),
              name.at);
}

void StatementParser::add_bytes(std::string_view bytes, const Origin& at) {
    Item item;
    item.kind = Item::Kind::Text;
    item.index = static_cast<std::uint32_t>(state_.unit.text.size());
    item.bytes = static_cast<std::uint32_t>(bytes.size());
    if (bytes.size() <= kMaxBytes) { // what is more is refused by add_item
        state_.unit.text.insert(state_.unit.text.end(), bytes.begin(), bytes.end());
    }
    if (item.bytes != 0) {
        add_item(item, at);
    }
}

/// A number, or nothing before the next comma.
StatementParser::Given StatementParser::optional_number(const Token& name) {
    if (state_.cursor.peek().is(",") || state_.cursor.at_statement_end()) {
        return {};
    }
    const auto value = known_number(name, "a number of bytes");
    return {value, value.has_value()};
}

} // namespace tessera::isa::assembly
