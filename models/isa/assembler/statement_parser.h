// SPDX-License-Identifier: MIT
// The parser of one source, as its parts see it: statements and bundles (parser.cpp), text that
// makes text (parse_text.cpp), directives (parse_section.cpp, parse_data.cpp, parse_symbol.cpp).
#pragma once

#include "models/isa/assembler/macro.h"
#include "models/isa/assembler/parse_state.h"
#include "models/isa/assembler/text_stack.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tessera::isa::assembly::cpp {
class IncludeSearch;
} // namespace tessera::isa::assembly::cpp

namespace tessera::isa::assembly {

class StatementParser {
public:
    StatementParser(std::vector<SourceLine> lines, std::uint32_t file, SourceMap& map, Unit& unit,
                    Evaluator& evaluator, cpp::IncludeSearch& files, Diagnostics& diagnostics);
    void run();

    /// What a directive does; it leaves the cursor at the end of the statement.
    using Handler = void (StatementParser::*)(const Token& name);
    struct Directive {
        std::string_view name;
        Handler handler;
        std::uint32_t argument = 0;
        bool may_be_in_bundle = false;
    };

private:
    // ---- statements (parser.cpp)
    void statement(const Statement& read);
    [[nodiscard]] bool label(Statement& read);
    void plain_statement(const Statement& read);
    void start_tokens(const Statement& read);
    void skip_statement();
    void end_statement();
    void fail(const Token& token, std::string_view what, std::string_view expected);
    bool expect_comma(const Token& directive_name);
    void unknown_instruction(const Token& name);
    void unknown_directive(const Token& name);

    // ---- instructions and bundles (parser.cpp)
    bool instruction();
    void lone_instruction();
    void bundle_half();
    void open_bundle(const Statement& read);
    void close_bundle();
    void abandon_bundle(const Origin& at, std::string_view got);
    void align_repeat(std::uint32_t bytes);
    [[nodiscard]] std::uint32_t bytes_of(const Instruction& parsed);
    [[nodiscard]] bool charge(std::uint32_t bytes, const Origin& at);
    void add_item(Item item, const Origin& at);
    void add_code(Item item, const Origin& at);

    // ---- conditions, macros, repetitions (parse_text.cpp)
    enum class Text : std::uint8_t {
        None,
        Macro,
        EndOfNothing,
        Purge,
        Exit,
        Repeat,
        ForEach,
        ForEachCharacter,
    };
    [[nodiscard]] bool conditional(const Statement& read, std::string_view name);
    [[nodiscard]] bool is_true(const Statement& read, std::string_view name, StatementTail tail);
    [[nodiscard]] std::optional<std::int64_t> number_of(const Statement& read, StatementTail tail,
                                                        std::string_view name);
    [[nodiscard]] bool compare_texts(StatementTail tail, std::string_view name);
    [[nodiscard]] bool is_skipping() const;
    [[nodiscard]] bool expand_macro(const Statement& read, std::string_view name);
    [[nodiscard]] std::optional<std::int64_t> value_of_text(const SourceLine& text);
    [[nodiscard]] AlternateMode alternate_mode();
    [[nodiscard]] bool text_directive(const Statement& read, std::string_view name);
    void define_macro(StatementTail tail, const Origin& at);
    void repeat(const Statement& read, StatementTail tail, std::string_view name);
    void repeat_for_each(StatementTail tail, std::string_view name, bool by_character);
    [[nodiscard]] std::optional<std::vector<SourceLine>> repeated_block(std::string_view name,
                                                                        const Origin& at);
    std::uint32_t add_trail(std::string what, const Origin& call);
    void finish_conditions();

    // ---- directives: sections and modes (parse_section.cpp)
    void do_section(const Token& name);
    void do_named_section(const Token& name);
    void do_subsection(const Token& name);
    void do_pop_section(const Token& name);
    void do_previous(const Token& name);
    void do_mode(const Token& name);
    void do_check(const Token& name);
    void do_optimise(const Token& name);
    void enter_section(std::string_view name, std::int64_t subsection, std::string_view flags,
                       bool has_flags);
    void go_to_section(std::uint32_t number);

    // ---- directives: data and places (parse_data.cpp)
    void do_data(const Token& name);
    void do_real(const Token& name);
    void do_string(const Token& name);
    void do_space(const Token& name);
    void do_fill(const Token& name);
    void do_align(const Token& name);
    void do_origin(const Token& name);
    void add_fill(std::int64_t elements, std::int64_t element_bytes, const Expression& value,
                  const Origin& at);
    [[nodiscard]] std::optional<Expression> real_bits(const Token& name, std::uint32_t bytes);
    [[nodiscard]] std::optional<std::int64_t> known_number(const Token& name,
                                                           std::string_view what);
    [[nodiscard]] Expression constant(std::int64_t value, const Origin& at);

    // ---- directives: other constants (parse_constant.cpp)
    struct Given {
        std::optional<std::int64_t> value;
        bool is_ok = true;
    };
    void do_leb128(const Token& name);
    void do_octa(const Token& name);
    void do_block(const Token& name);
    void do_real_block(const Token& name);
    void do_include_bytes(const Token& name);
    [[nodiscard]] bool is_octa_literal() const;
    [[nodiscard]] bool octa_literal();
    [[nodiscard]] bool octa_expression();
    [[nodiscard]] std::optional<std::int64_t> block_length(const Token& name);
    [[nodiscard]] Given optional_number(const Token& name);
    void add_bytes(std::string_view bytes, const Origin& at);

    // ---- directives: symbols and messages (parse_symbol.cpp)
    void do_set(const Token& name);
    void do_binding(const Token& name);
    void do_scatters(const Token& name);
    void do_size(const Token& name);
    void do_nothing(const Token& name);
    void do_message(const Token& name);
    void do_print(const Token& name);
    void do_common(const Token& name);
    void do_local_common(const Token& name);
    struct CommonSize {
        std::uint32_t bytes = 0;
        std::uint32_t alignment = 1;
    };
    [[nodiscard]] std::optional<CommonSize> common_size(const Token& name);
    void place_in_bss(Symbol& symbol, CommonSize size, const Origin& at);
    [[nodiscard]] std::optional<Token> assigned_name();
    Symbol* define(const Token& name, Symbol::Kind kind);
    void assign(const Token& name, bool is_fixed);
    std::optional<Token> name_argument(const Token& directive_name);

    [[nodiscard]] Section& section() { return state_.unit.sections[section_]; }
    static std::span<const Directive> directives();
    static const Directive* find_directive(std::string_view name);

    struct Condition {
        bool is_met = false;      ///< one of its branches was taken
        bool is_skipping = false; ///< this branch is not
        bool was_skipping = false;
        bool has_else = false;
        Origin at;
    };
    struct OpenBundle {
        Item item;
        Origin at;
        unsigned instructions = 0;
        bool is_ok = true;
        bool is_repeat = false;
    };

    ParseState state_;
    TextStack text_;
    SourceMap& map_;
    cpp::IncludeSearch& files_; ///< for .incbin
    std::map<std::string, Macro, std::less<>> macros_;
    std::uint64_t expansions_ = 0;
    std::uint64_t locals_ = 0;  ///< names that LOCAL made
    bool is_alternate_ = false; ///< .altmacro
    std::vector<Condition> conditions_;
    std::optional<OpenBundle> bundle_;
    std::map<std::pair<std::string_view, std::int64_t>, std::uint32_t> section_numbers_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pushed_sections_; ///< with their previous
    std::uint32_t section_ = 0;
    std::uint32_t previous_section_ = 0;
    Mode mode_ = Mode::Any;
    Checks checks_;
    const Directive* directive_ = nullptr;
    std::uint32_t total_bytes_ = 0;
    bool is_too_long_ = false;
};

} // namespace tessera::isa::assembly
