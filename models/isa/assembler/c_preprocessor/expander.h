// SPDX-License-Identifier: MIT
// Replaces macro calls in a line's lexemes, as C says it (6.10.3). What it hands out knows through
// which calls it came.
#pragma once

#include "models/isa/assembler/c_preprocessor/macro_table.h"

#include <functional>
#include <optional>

namespace tessera::isa::assembly::cpp {

class Expander {
public:
    /// Appends the lexemes of the next line of text, so that a call may go on there; false when
    /// there is none. `only_call`: only if it begins with a parenthesis.
    using MoreText = std::function<bool(std::vector<Lexeme>& out, bool only_call)>;

    Expander(MacroTable& macros, SourceMap& map, Diagnostics& diagnostics)
        : macros_(macros), map_(map), diagnostics_(diagnostics) {}

    /// Forgets the texts and expansions of the statement before.
    void begin_statement();

    /// Contract: lexemes of the result are valid until the next `begin_statement`.
    /// @throws Stop when macros make too much of too little.
    [[nodiscard]] std::vector<Lexeme> expand(std::vector<Lexeme> line, const MoreText& more);

    /// Expands the line of an #if; names after `defined` are left alone.
    [[nodiscard]] std::vector<Lexeme> expand_condition(std::vector<Lexeme> line);

    /// Of a lexeme of the current statement; adds to the map's trails when they are needed.
    [[nodiscard]] Origin origin_of(const Lexeme& lexeme) {
        return {lexeme.at, trail_of(lexeme.trail)};
    }

private:
    struct Context {
        Macro* macro; ///< disabled while its text is being read
        std::vector<Lexeme> text;
        std::size_t next = 0;
    };
    struct Stream {
        std::vector<Lexeme> base;
        std::size_t next = 0;
        std::vector<Context> contexts{};
        const MoreText* more = nullptr;
    };
    struct Expansion {
        std::string_view macro;
        Position call;
        std::uint32_t call_trail;
        std::uint32_t depth;
        std::uint32_t trail = 0; ///< in the map, once somebody asked
    };
    struct Argument {
        std::vector<Lexeme> written;
        std::optional<std::vector<Lexeme>> expanded{};
    };
    using Arguments = std::vector<Argument>;

    void run(Stream& stream, std::vector<Lexeme>& out);
    [[nodiscard]] static const Lexeme* peek(Stream& stream);
    [[nodiscard]] static bool take(Stream& stream, Lexeme& lexeme);
    [[nodiscard]] static bool pull(Stream& stream, bool only_call);
    [[nodiscard]] bool try_expand(Stream& stream, const Lexeme& name, Macro& macro);
    [[nodiscard]] bool follows_call(Stream& stream);
    [[nodiscard]] bool collect(Stream& stream, const Lexeme& name, const Macro& macro,
                               Arguments& arguments);
    [[nodiscard]] bool fits(const Lexeme& name, const Macro& macro, Arguments& arguments);
    [[nodiscard]] std::vector<Lexeme> substitute(const Macro& macro, Arguments& arguments,
                                                 std::uint32_t expansion);
    void append_operand(const Macro& macro, std::size_t& index, Arguments& arguments, bool pasted,
                        std::uint32_t expansion, std::vector<Lexeme>& out);
    [[nodiscard]] const std::vector<Lexeme>& expanded(Argument& argument);
    void paste(std::vector<Lexeme>& out, std::size_t left_end);
    [[nodiscard]] Lexeme stringify(const std::vector<Lexeme>& written, const Lexeme& like);
    [[nodiscard]] Lexeme dynamic_value(const Lexeme& name, const Macro& macro);
    [[nodiscard]] std::uint32_t add_expansion(const Lexeme& name, const Macro& macro);
    [[nodiscard]] std::uint32_t trail_of(std::uint32_t trail);
    void charge(std::size_t lexemes, const Lexeme& at);

    MacroTable& macros_;
    SourceMap& map_;
    Diagnostics& diagnostics_;
    std::deque<std::string> scratch_;
    std::vector<Expansion> expansions_;
    std::size_t statement_lexemes_ = 0;
    std::size_t all_lexemes_ = 0;
    std::size_t all_expansions_ = 0;
    std::uint32_t argument_depth_ = 0;
    std::uint64_t counter_ = 0;
    bool in_condition_ = false;
    Position call_at_; ///< of the outermost call that is being expanded, for __LINE__
};

} // namespace tessera::isa::assembly::cpp
