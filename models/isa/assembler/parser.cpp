// SPDX-License-Identifier: MIT
#include "models/isa/assembler/parser.h"

#include "models/isa/assembler/parse_state.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

namespace tessera::isa::assembly {
namespace {

constexpr std::int64_t kMaxAlignment = 32768;

class Parser {
public:
    Parser(std::vector<Token> tokens, std::uint32_t file, Unit& unit, Evaluator& evaluator,
           Diagnostics& diagnostics)
        : state_{Cursor(std::move(tokens)), unit, evaluator, diagnostics, file, {}} {
        enter_section(".text");
    }

    void run() {
        while (state_.cursor.peek().kind != TokenKind::End && !is_too_long_) {
            if (state_.cursor.peek().kind == TokenKind::Newline || state_.cursor.peek().is(";")) {
                state_.cursor.take();
                continue;
            }
            statement();
        }
    }

private:
    using Handler = void (Parser::*)(const Token&);
    struct Directive {
        std::string_view name;
        Handler handler;
        std::uint32_t argument;
    };
    static const std::array<Directive, 21> kDirectives;

    [[nodiscard]] Section& section() { return state_.unit.sections[section_]; }

    void statement() {
        state_.here = {section_, section().bytes};
        const Token token = state_.cursor.peek();
        const Token& after = state_.cursor.peek(1);
        if (token.is("{")) {
            bundle();
        } else if (token.kind == TokenKind::Identifier && after.is(":")) {
            label(token);
        } else if (token.kind == TokenKind::Number && after.is(":")) {
            state_.unit.scopes[state_.file].numeric_labels[token.value].push_back(state_.here);
            state_.cursor.take();
            state_.cursor.take();
        } else if (token.kind == TokenKind::Identifier && after.is("=")) {
            state_.cursor.take();
            state_.cursor.take();
            assign(token);
            end_statement();
        } else if (token.kind == TokenKind::Identifier && token.text.front() == '.') {
            directive();
        } else if (token.kind == TokenKind::Identifier) {
            lone_instruction();
        } else {
            state_.diagnostics.add(token.at, "statement: got " + text_of(token) +
                                                 ", expected a label, directive or instruction");
            state_.cursor.take();
            skip_statement();
        }
    }

    void skip_statement() {
        while (!state_.cursor.at_statement_end()) {
            state_.cursor.take();
        }
    }

    void end_statement() {
        if (state_.cursor.at_statement_end()) {
            return;
        }
        state_.diagnostics.add(state_.cursor.peek().at, "statement: got " +
                                                            text_of(state_.cursor.peek()) +
                                                            ", expected the end of the statement");
        skip_statement();
    }

    // ---- symbols

    /// The symbol of this name, free to be defined as `kind`; null when it is something else
    /// already.
    Symbol* define(const Token& name, Symbol::Kind kind) {
        Symbol& symbol = state_.unit.scopes[state_.file].symbols[name.text];
        const bool is_again = symbol.kind == Symbol::Kind::Label ||
                              (symbol.kind == Symbol::Kind::Assigned && kind != symbol.kind);
        if (is_again) {
            state_.diagnostics.add(
                name.at, "symbol '" + std::string(name.text) + "': defined in line " +
                             std::to_string(symbol.at.line) + " already, expected a new name");
            return nullptr;
        }
        symbol.kind = kind;
        symbol.at = name.at;
        return &symbol;
    }

    void label(const Token& name) {
        state_.cursor.take();
        state_.cursor.take();
        if (Symbol* symbol = define(name, Symbol::Kind::Label)) {
            symbol->location = state_.here;
        }
    }

    void assign(const Token& name) {
        const auto expression = parse_expression(state_);
        if (!expression) {
            skip_statement();
            return;
        }
        Definition definition;
        definition.expression = *expression;
        definition.at = name.at;
        definition.known = state_.evaluator.early(*expression);
        if (Symbol* symbol = define(name, Symbol::Kind::Assigned)) {
            symbol->definition = static_cast<std::uint32_t>(state_.unit.definitions.size());
            state_.unit.definitions.push_back(definition);
        }
    }

    // ---- sections and items

    void enter_section(std::string_view name) {
        const auto next = static_cast<std::uint32_t>(state_.unit.sections.size());
        const auto [found, is_new] = section_numbers_.emplace(name, next);
        section_ = found->second;
        if (!is_new) {
            return;
        }
        Section fresh;
        fresh.name = name;
        fresh.file = state_.file;
        state_.unit.sections.push_back(std::move(fresh));
    }

    void add_item(Item item, Position at) {
        item.offset = section().bytes;
        total_bytes_ += item.bytes;
        if (total_bytes_ > kMaxBytes) {
            state_.diagnostics.add(at, "source: got more than 1048576 bytes of code and data");
            is_too_long_ = true;
            return;
        }
        section().bytes += item.bytes;
        section().items.push_back(item);
    }

    void add_code(Item item, Position at) {
        if (section().bytes % 4 != 0) {
            state_.diagnostics.add(at, "instruction: got an address that is no multiple of 4",
                                   "put .align 4 before it");
            return;
        }
        add_item(item, at);
    }

    // ---- instructions

    /// Parses one instruction into Unit::instructions; false after a mistake.
    bool instruction() {
        Instruction parsed;
        const Token mnemonic = state_.cursor.take();
        parsed.mnemonic = mnemonic.text;
        parsed.at = mnemonic.at;
        parsed.mode = mode_;
        parsed.operand_begin = static_cast<std::uint32_t>(state_.unit.operands.size());
        while (!state_.cursor.at_statement_end()) {
            const auto operand = parse_operand(state_);
            if (!operand) {
                skip_statement();
                return false;
            }
            state_.unit.operands.push_back(*operand);
            if (state_.cursor.at_statement_end()) {
                break;
            }
            if (!state_.cursor.accept(",")) {
                state_.diagnostics.add(state_.cursor.peek().at,
                                       std::string(mnemonic.text) + ": got " +
                                           text_of(state_.cursor.peek()) +
                                           ", expected a comma or the end of the statement");
                skip_statement();
                return false;
            }
            if (state_.cursor.at_statement_end()) {
                state_.diagnostics.add(state_.cursor.peek().at,
                                       std::string(mnemonic.text) + ": got " +
                                           text_of(state_.cursor.peek()) +
                                           ", expected an operand after the comma");
                return false;
            }
        }
        parsed.operand_end = static_cast<std::uint32_t>(state_.unit.operands.size());
        state_.unit.instructions.push_back(parsed);
        return true;
    }

    void lone_instruction() {
        const Position at = state_.cursor.peek().at;
        Item item;
        item.kind = Item::Kind::Instruction;
        item.index = static_cast<std::uint32_t>(state_.unit.instructions.size());
        if (!instruction()) {
            return;
        }
        item.bytes = bytes_of(state_.unit.instructions.back());
        add_code(item, at);
    }

    /// 4, or 8 for an instruction of two words and an ldconst whose value needs two instructions or is not known yet.
    [[nodiscard]] std::uint32_t bytes_of(const Instruction& parsed) {
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

    void bundle() {
        const Token open = state_.cursor.take();
        Item item;
        item.kind = Item::Kind::Bundle;
        item.bytes = 8;
        item.index = static_cast<std::uint32_t>(state_.unit.instructions.size());
        unsigned instructions = 0;
        bool is_ok = true;
        while (!state_.cursor.accept("}")) {
            const Token token = state_.cursor.peek();
            if (token.kind == TokenKind::Newline || token.is(";")) {
                state_.cursor.take();
                continue;
            }
            if (token.kind == TokenKind::End || token.is("{")) {
                state_.diagnostics.add(token.at, "bundle: got " + text_of(token) +
                                                     ", expected an instruction or }");
                return;
            }
            if (token.kind != TokenKind::Identifier || token.text.front() == '.' ||
                state_.cursor.peek(1).is(":")) {
                state_.diagnostics.add(token.at, "bundle: got " + text_of(token) +
                                                     ", expected an instruction or }");
                state_.cursor.take();
                skip_statement();
                is_ok = false;
                continue;
            }
            ++instructions;
            is_ok = instruction() && is_ok;
        }
        finish_bundle(open.at, item, instructions, is_ok);
    }

    void finish_bundle(Position at, const Item& item, unsigned instructions, bool is_ok) {
        if (is_ok && instructions != 2) {
            state_.diagnostics.add(at, "bundle: got " + std::to_string(instructions) +
                                           " instructions, expected 2");
            is_ok = false;
        }
        if (mode_ == Mode::Supervisor) {
            state_.diagnostics.add(at, "bundle: got supervisor code, expected worker code");
            is_ok = false;
        }
        if (is_ok) {
            add_code(item, at);
        }
    }

    // ---- directives

    void directive() {
        const Token name = state_.cursor.take();
        const auto found =
            std::find_if(kDirectives.begin(), kDirectives.end(),
                         [&](const Directive& entry) { return entry.name == name.text; });
        if (found == kDirectives.end()) {
            std::vector<std::string_view> names;
            for (const Directive& entry : kDirectives) {
                names.push_back(entry.name);
            }
            state_.diagnostics.add(name.at, "directive '" + std::string(name.text) + "': not known",
                                   state_.diagnostics.nearest(name.text, names));
            skip_statement();
            return;
        }
        argument_ = found->argument;
        (this->*found->handler)(name);
        end_statement();
    }

    std::optional<Token> name_argument(const Token& directive_name) {
        const Token& token = state_.cursor.peek();
        if (token.kind == TokenKind::Identifier || token.kind == TokenKind::String) {
            return state_.cursor.take();
        }
        state_.diagnostics.add(token.at, std::string(directive_name.text) + ": got " +
                                             text_of(token) + ", expected a name");
        skip_statement();
        return std::nullopt;
    }

    void do_set(const Token& name) {
        const auto symbol = name_argument(name);
        if (!symbol) {
            return;
        }
        if (!state_.cursor.accept(",")) {
            state_.diagnostics.add(state_.cursor.peek().at, std::string(name.text) + ": got " +
                                                                text_of(state_.cursor.peek()) +
                                                                ", expected a comma");
            skip_statement();
            return;
        }
        assign(*symbol);
    }

    void do_align(const Token& name) {
        const auto expression = parse_expression(state_);
        if (!expression) {
            skip_statement();
            return;
        }
        const auto value = state_.evaluator.early(*expression);
        const bool is_number = value && value->is_absolute();
        const bool is_power = argument_ == 1; // .p2align
        if (!is_number || value->number < 0 || value->number > (is_power ? 15 : kMaxAlignment) ||
            (!is_power && (value->number & (value->number - 1)) != 0)) {
            const std::string got =
                is_number ? std::to_string(value->number) : "a value that is not known yet";
            state_.diagnostics.add(name.at, std::string(name.text) + ": got " + got +
                                                (is_power ? ", expected 0..15"
                                                          : ", expected a power of two of bytes, "
                                                            "at most 32768"));
            return;
        }
        const auto alignment =
            std::max(1U, static_cast<std::uint32_t>(is_power ? 1 << value->number : value->number));
        section().alignment = std::max(section().alignment, alignment);
        Item item;
        item.kind = Item::Kind::Padding;
        item.bytes = (alignment - section().bytes % alignment) % alignment;
        if (item.bytes != 0) {
            add_item(item, name.at);
        }
    }

    void do_section(const Token& name) {
        if (const auto section_name = name_argument(name)) {
            enter_section(section_name->text);
            skip_statement();
        }
    }

    void do_text(const Token&) { enter_section(".text"); }

    void do_mode(const Token&) { mode_ = argument_ == 1 ? Mode::Supervisor : Mode::Worker; }

    void do_global(const Token& name) {
        do {
            const auto symbol_name = name_argument(name);
            if (!symbol_name) {
                return;
            }
            Symbol& symbol = state_.unit.scopes[state_.file].symbols[symbol_name->text];
            symbol.is_global = symbol_name->text.substr(0, 2) != ".L";
            symbol.is_weak = symbol.is_weak || argument_ == 1;
        } while (state_.cursor.accept(","));
    }

    void do_nothing(const Token&) { skip_statement(); }

    void do_data(const Token&) {
        Item item;
        item.kind = Item::Kind::Data;
        item.element_bytes = argument_;
        item.index = static_cast<std::uint32_t>(state_.unit.data.size());
        const Position at = state_.cursor.peek().at;
        do {
            const auto expression = parse_expression(state_);
            if (!expression) {
                skip_statement();
                break;
            }
            state_.unit.data.push_back(*expression);
            item.bytes += argument_;
        } while (state_.cursor.accept(","));
        if (item.bytes != 0) {
            add_item(item, at);
        }
    }

    void do_error(const Token& name) {
        const Token& text = state_.cursor.peek();
        state_.diagnostics.add(name.at, text.kind == TokenKind::String
                                            ? ".error: " + std::string(text.text)
                                            : std::string(".error"));
        skip_statement();
    }

    ParseState state_;
    std::unordered_map<std::string_view, std::uint32_t> section_numbers_;
    Mode mode_ = Mode::Any;
    std::uint32_t section_ = 0;
    std::uint32_t argument_ = 0;
    std::uint32_t total_bytes_ = 0;
    bool is_too_long_ = false;
};

const std::array<Parser::Directive, 21> Parser::kDirectives = {{
    {".equ", &Parser::do_set, 0},         {".set", &Parser::do_set, 0},
    {".align", &Parser::do_align, 0},     {".balign", &Parser::do_align, 0},
    {".p2align", &Parser::do_align, 1},   {".section", &Parser::do_section, 0},
    {".text", &Parser::do_text, 0},       {".globl", &Parser::do_global, 0},
    {".global", &Parser::do_global, 0},   {".weak", &Parser::do_global, 1},
    {".extern", &Parser::do_nothing, 0},  {".type", &Parser::do_nothing, 0},
    {".size", &Parser::do_nothing, 0},    {".worker", &Parser::do_mode, 0},
    {".supervisor", &Parser::do_mode, 1}, {".int", &Parser::do_data, 4},
    {".long", &Parser::do_data, 4},       {".word", &Parser::do_data, 4},
    {".short", &Parser::do_data, 2},      {".half", &Parser::do_data, 2},
    {".error", &Parser::do_error, 0},
}};

} // namespace

void parse(std::vector<Token> tokens, std::uint32_t file, Unit& unit, Evaluator& evaluator,
           Diagnostics& diagnostics) {
    Parser(std::move(tokens), file, unit, evaluator, diagnostics).run();
}

} // namespace tessera::isa::assembly
