// SPDX-License-Identifier: MIT
#include "models/isa/assembler/parser.h"

#include "models/isa/assembler/lexer.h"
#include "models/isa/assembler/match.h"
#include "models/isa/assembler/operand.h"
#include "models/isa/assembler/statement_parser.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace tessera::isa::assembly {
namespace {

bool is_instruction(std::string_view mnemonic) {
    const auto pseudo = pseudo_mnemonics();
    return !opcodes_named(mnemonic).empty() ||
           std::find(pseudo.begin(), pseudo.end(), mnemonic) != pseudo.end();
}

/// `$name` among the operands of these is a control register, or a mistake.
bool takes_control_register(std::string_view mnemonic) {
    const auto rows = opcodes_named(mnemonic);
    return std::any_of(rows.begin(), rows.end(), [](Opcode opcode) {
        const auto list = spec_of(spec_of(opcode).form).list();
        return std::any_of(list.begin(), list.end(), [](const OperandSpec& operand) {
            return operand.kind == OperandKind::Csr || operand.kind == OperandKind::UCsr ||
                   operand.kind == OperandKind::WeightIndex;
        });
    });
}

/// The column after blanks.
std::uint32_t after_blanks(const Statement& read, std::uint32_t column) {
    while (column < read.end && is_blank(read.line->text[column])) {
        ++column;
    }
    return column;
}

} // namespace

StatementParser::StatementParser(std::vector<SourceLine> lines, std::uint32_t file, SourceMap& map,
                                 Unit& unit, Evaluator& evaluator, cpp::IncludeSearch& files,
                                 Diagnostics& diagnostics)
    : state_{unit, evaluator, diagnostics, file, {}, {}}, text_(std::move(lines), diagnostics),
      map_(map), files_(files) {
    enter_section(".text", 0, "", false);
    previous_section_ = section_;
}

void StatementParser::run() {
    Statement read;
    while (!is_too_long_ && text_.next(read)) {
        if (read.kind == Statement::Kind::Text) {
            statement(read);
        } else if (is_skipping()) {
            continue;
        } else if (read.kind == Statement::Kind::Open) {
            open_bundle(read);
        } else if (bundle_) {
            close_bundle();
        } else {
            state_.diagnostics.add(
                read.at(), "statement: got '}', expected a label, directive or instruction");
        }
    }
    if (is_too_long_) {
        return;
    }
    if (bundle_) {
        abandon_bundle(bundle_->at, "the end of the file");
    }
    finish_conditions();
}

// ---- statements

void StatementParser::statement(const Statement& read) {
    Statement rest = read;
    while (true) {
        const std::string_view name = leading_name(rest.text());
        if (conditional(rest, name) || is_skipping()) {
            return;
        }
        const std::uint32_t begin = rest.begin;
        if (!label(rest)) {
            return;
        }
        if (rest.begin != begin) {
            continue;
        }
        state_.here = {section_, section().bytes};
        if (!expand_macro(rest, name) && !text_directive(rest, name)) {
            plain_statement(rest);
        }
        return;
    }
}

/// Takes a label off the front, if there is one; false when nothing follows it.
bool StatementParser::label(Statement& read) {
    const std::string_view text = read.text();
    std::size_t length = leading_symbol(text).size();
    const bool is_named = length != 0;
    while (!is_named && length < text.size() && is_digit(text[length])) {
        ++length;
    }
    const std::uint32_t colon = after_blanks(read, read.begin + static_cast<std::uint32_t>(length));
    if (length == 0 || colon >= read.end || read.line->text[colon] != ':') {
        return true;
    }
    state_.here = {section_, section().bytes};
    Token name;
    name.kind = TokenKind::Identifier;
    name.at = read.at();
    name.text = text.substr(0, length);
    if (bundle_) {
        state_.diagnostics.add(name.at,
                               "bundle: got " + text_of(name) + ", expected an instruction or }");
        bundle_->is_ok = false;
        return false;
    }
    if (is_named) {
        name.text = state_.unit.names.intern(name.text);
        if (name.text.front() == '$' && find_register(name.text.substr(1))) {
            state_.diagnostics.add(name.at, "label: got " + text_of(name) +
                                                ", which is a register, expected another name");
        } else if (Symbol* symbol = define(name, Symbol::Kind::Label)) {
            symbol->location = state_.here;
        }
    } else {
        std::int64_t number = 0;
        const auto result = std::from_chars(text.data(), text.data() + length, number);
        if (result.ec != std::errc{}) {
            state_.diagnostics.add(name.at, "label: got " + std::string(name.text) +
                                                ", expected at most 63 bits");
        }
        state_.unit.scopes[state_.file].numeric_labels[number].push_back(state_.here);
    }
    read.begin = after_blanks(read, colon + 1);
    return read.begin < read.end;
}

void StatementParser::start_tokens(const Statement& read) {
    lex(read, state_.unit.names, state_.diagnostics, state_.cursor.restart());
}

void StatementParser::plain_statement(const Statement& read) {
    start_tokens(read);
    const Token token = state_.cursor.peek();
    if (const auto assigned = assigned_name()) {
        assign(*assigned, false);
        end_statement();
        return;
    }
    if (token.kind == TokenKind::Identifier && token.text.front() == '.') {
        directive_ = find_directive(token.text);
        if (directive_ == nullptr) {
            unknown_directive(token);
        } else if (bundle_ && !directive_->may_be_in_bundle) {
            state_.diagnostics.add(token.at, "bundle: got " + text_of(token) +
                                                 ", expected an instruction or }");
            bundle_->is_ok = false;
        } else {
            state_.cursor.take();
            (this->*directive_->handler)(token);
            end_statement();
        }
        return;
    }
    if (token.kind != TokenKind::Identifier) {
        if (!state_.cursor.at_statement_end()) {
            fail(token, bundle_ ? "bundle" : "statement",
                 bundle_ ? "an instruction or }" : "a label, directive or instruction");
        }
    } else if (!is_instruction(token.text)) {
        unknown_instruction(token);
    } else if (bundle_) {
        bundle_half();
        return;
    } else {
        lone_instruction();
        return;
    }
    if (bundle_) {
        bundle_->is_ok = false;
    }
}

/// The name of an assignment, read with its equals sign.
std::optional<Token> StatementParser::assigned_name() {
    const Token first = state_.cursor.peek();
    const bool has_dollar = first.is("$") && state_.cursor.peek(1).kind == TokenKind::Identifier;
    if ((!has_dollar && first.kind != TokenKind::Identifier) ||
        !state_.cursor.peek(has_dollar ? 2 : 1).is("=")) {
        return std::nullopt;
    }
    const Token name = has_dollar ? dollar_name(state_) : state_.cursor.take();
    state_.cursor.take();
    return name;
}

void StatementParser::unknown_instruction(const Token& name) {
    if (const std::string why = refused_mnemonic(name.text); !why.empty()) {
        state_.diagnostics.add(name.at, std::string(name.text) + ": " + why);
        return;
    }
    std::vector<std::string_view> names(mnemonics().begin(), mnemonics().end());
    names.insert(names.end(), pseudo_mnemonics().begin(), pseudo_mnemonics().end());
    for (const auto& [macro_name, macro] : macros_) {
        names.push_back(macro_name);
    }
    state_.diagnostics.add(name.at, "instruction '" + std::string(name.text) + "': not known",
                           state_.diagnostics.nearest(name.text, names));
}

void StatementParser::skip_statement() {
    while (!state_.cursor.at_statement_end()) {
        state_.cursor.take();
    }
}

void StatementParser::end_statement() {
    if (state_.cursor.at_statement_end()) {
        return;
    }
    fail(state_.cursor.peek(), "statement", "the end of the statement");
    skip_statement();
}

void StatementParser::fail(const Token& token, std::string_view what, std::string_view expected) {
    state_.diagnostics.add(token.at, std::string(what) + ": got " + text_of(token) + ", expected " +
                                         std::string(expected));
}

bool StatementParser::expect_comma(const Token& directive_name) {
    if (state_.cursor.accept(",")) {
        return true;
    }
    fail(state_.cursor.peek(), directive_name.text, "a comma");
    skip_statement();
    return false;
}

// ---- instructions

/// Parses one instruction into Unit::instructions; false after a mistake.
bool StatementParser::instruction() {
    Instruction parsed;
    const Token mnemonic = state_.cursor.take();
    parsed.mnemonic = mnemonic.text;
    parsed.at = mnemonic.at;
    parsed.mode = mode_;
    parsed.checks = checks_;
    parsed.operand_begin = static_cast<std::uint32_t>(state_.unit.operands.size());
    const bool is_for_control_registers = takes_control_register(mnemonic.text);
    while (!state_.cursor.at_statement_end()) {
        const auto operand = parse_operand(state_, is_for_control_registers);
        if (!operand) {
            return false;
        }
        state_.unit.operands.push_back(*operand);
        if (state_.cursor.at_statement_end()) {
            break;
        }
        if (!state_.cursor.accept(",")) {
            fail(state_.cursor.peek(), mnemonic.text, "a comma or the end of the statement");
            return false;
        }
        if (state_.cursor.at_statement_end()) {
            fail(state_.cursor.peek(), mnemonic.text, "an operand after the comma");
            return false;
        }
    }
    parsed.operand_end = static_cast<std::uint32_t>(state_.unit.operands.size());
    state_.unit.instructions.push_back(parsed);
    return true;
}

/// `.allow_optimizations`: the body of an rpt that ends here would start off 8 bytes.
void StatementParser::align_repeat(std::uint32_t bytes) {
    if (!checks_.may_optimise || section().bytes % 4 != 0 || (section().bytes + bytes) % 8 == 0) {
        return;
    }
    Item nop;
    nop.kind = Item::Kind::Padding;
    nop.bytes = 4;
    add_item(nop, {});
    section().has_code = true;
}

void StatementParser::lone_instruction() {
    const Token first = state_.cursor.peek();
    Item item;
    item.kind = Item::Kind::Instruction;
    item.index = static_cast<std::uint32_t>(state_.unit.instructions.size());
    if (!instruction()) {
        return;
    }
    item.bytes = bytes_of(state_.unit.instructions.back());
    if (first.text == "rpt") {
        align_repeat(item.bytes);
    }
    add_code(item, first.at);
}

/// 4, or 8 for an instruction of two words and an ldconst whose value needs two instructions or is
/// not known yet.
std::uint32_t StatementParser::bytes_of(const Instruction& parsed) {
    const auto rows = opcodes_named(parsed.mnemonic);
    if (!rows.empty() && has_two_words(rows.front())) {
        return 8;
    }
    if (parsed.mnemonic != "ldconst" || parsed.operand_end - parsed.operand_begin != 2) {
        return 4;
    }
    const Operand& operand = state_.unit.operands[parsed.operand_begin + 1];
    if (operand.shape != OperandShape::Expression) {
        return 4;
    }
    const auto value = state_.evaluator.early(operand.expression);
    const bool is_short = value && value->is_absolute() && (value->number & 0xfff00000) == 0;
    return is_short ? 4 : 8;
}

void StatementParser::open_bundle(const Statement& read) {
    if (bundle_) {
        abandon_bundle(read.at(), "'{'");
    }
    state_.here = {section_, section().bytes};
    OpenBundle bundle;
    bundle.at = read.at();
    bundle.item.kind = Item::Kind::Bundle;
    bundle.item.bytes = 8;
    bundle.item.index = static_cast<std::uint32_t>(state_.unit.instructions.size());
    bundle_ = bundle;
}

void StatementParser::abandon_bundle(const Origin& at, std::string_view got) {
    state_.diagnostics.add(at,
                           "bundle: got " + std::string(got) + ", expected an instruction or }");
    bundle_.reset();
}

void StatementParser::bundle_half() {
    ++bundle_->instructions;
    if (const Token first = state_.cursor.peek(); first.text == "ldconst") {
        const std::string message = "bundle: ldconst stands alone, expected it outside a bundle";
        if (checks_.bundles == Severity::Error) {
            state_.diagnostics.add(first.at, message);
            bundle_->is_ok = false;
        } else if (checks_.bundles == Severity::Warning) {
            state_.diagnostics.warn(first.at, message);
        }
    }
    bundle_->is_repeat = bundle_->is_repeat || state_.cursor.peek().text == "rpt";
    bundle_->is_ok = instruction() && bundle_->is_ok;
}

void StatementParser::close_bundle() {
    const OpenBundle bundle = *bundle_;
    bundle_.reset();
    bool is_ok = bundle.is_ok;
    if (is_ok && bundle.instructions != 2) {
        state_.diagnostics.add(bundle.at, "bundle: got " + std::to_string(bundle.instructions) +
                                              " instructions, expected 2");
        is_ok = false;
    }
    if (mode_ == Mode::Supervisor && checks_.execution_mode == Severity::Error) {
        state_.diagnostics.add(bundle.at, "bundle: got supervisor code, expected worker code");
        is_ok = false;
    }
    if (is_ok) {
        if (bundle.is_repeat) {
            align_repeat(8);
        }
        add_code(bundle.item, bundle.at);
    }
}

// ---- items

/// False, and the source is at its end, when it has more bytes than any codelet.
bool StatementParser::charge(std::uint32_t bytes, const Origin& at) {
    if (bytes > kMaxBytes - total_bytes_) {
        state_.diagnostics.add(at, "source: got more than 1048576 bytes of code and data");
        is_too_long_ = true;
        return false;
    }
    total_bytes_ += bytes;
    return true;
}

void StatementParser::add_item(Item item, const Origin& at) {
    if (!charge(item.bytes, at)) {
        return;
    }
    item.offset = section().bytes;
    section().bytes += item.bytes;
    section().items.push_back(item);
}

void StatementParser::add_code(Item item, const Origin& at) {
    if (section().bytes % 4 != 0) {
        state_.diagnostics.add(at, "instruction: got an address that is no multiple of 4",
                               "put .align 4 before it");
        return;
    }
    section().has_code = true;
    add_item(item, at);
}

void parse(std::vector<SourceLine> lines, std::uint32_t file, SourceMap& map, Unit& unit,
           Evaluator& evaluator, cpp::IncludeSearch& files, Diagnostics& diagnostics) {
    StatementParser(std::move(lines), file, map, unit, evaluator, files, diagnostics).run();
}

} // namespace tessera::isa::assembly
