// SPDX-License-Identifier: MIT
// The text that the parser reads, statement by statement: the lines of a source, and on top of them
// those of macro expansions and repetitions, which end before the source goes on.
//
// Text comes one statement at a time, because what follows may depend on it (`.if` on symbols, a
// macro call on what is defined).
#pragma once

#include "models/isa/assembler/diagnostics.h"
#include "models/isa/assembler/source_text.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tessera::isa::assembly {

/// A statement in the text of a line, or one of the braces round a bundle. Good until the next one
/// is read.
struct Statement {
    enum class Kind : std::uint8_t { Text, Open, Close };
    Kind kind = Kind::Text;
    const SourceLine* line = nullptr;
    std::uint32_t begin = 0; ///< column of the first character, from 0
    std::uint32_t end = 0;   ///< column after the last one that is no blank
    char terminator = '\n';  ///< '\n', ';', '{' or '}'
    std::uint32_t next = 0;  ///< column where the next statement may start

    [[nodiscard]] std::string_view text() const {
        return std::string_view(line->text).substr(begin, end - begin);
    }
    [[nodiscard]] Origin at() const { return line->origin_of(begin); }
};

[[nodiscard]] constexpr bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}
[[nodiscard]] constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
[[nodiscard]] constexpr bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
[[nodiscard]] constexpr bool is_word(char c) {
    return is_letter(c) || is_digit(c);
}
/// Whether a name may contain `c` after its first character.
[[nodiscard]] constexpr bool is_name_character(char c) {
    return is_word(c) || c == '.' || c == '$' || c == '@';
}

/// The name that a statement starts with; empty where it starts with something else.
[[nodiscard]] std::string_view leading_name(std::string_view text);

/// The same of a symbol, which may begin with `$`.
[[nodiscard]] std::string_view leading_symbol(std::string_view text);

/// The column of the quote that ends the string that begins at `column`; nothing where the line ends
/// before. A quote behind a backslash is part of the string.
[[nodiscard]] std::optional<std::size_t> closing_quote(std::string_view text, std::size_t column);

/// The column after the string or character constant that begins at `column`. A string that does not
/// end in this line goes to its end; of a character that does not, it is the column after the quote.
[[nodiscard]] std::size_t end_of_quoted(std::string_view text, std::size_t column);

/// Appends columns `begin`..`end` of a line, with their origins; `trail` replaces theirs.
void append_slice(SourceLine& target, const SourceLine& from, std::size_t begin, std::size_t end,
                  std::optional<std::uint32_t> trail = std::nullopt);

/// What a line of an expansion costs in memory and time, about.
[[nodiscard]] inline std::size_t cost_bytes(const SourceLine& line) {
    return 32 + line.text.size() + 8 * line.pieces.size();
}

class TextStack {
public:
    static constexpr std::size_t kMaxDepth = 200;
    static constexpr std::size_t kMaxExpandedBytes = std::size_t{32} << 20U;

    TextStack(std::vector<SourceLine> source, Diagnostics& diagnostics);

    /// The next statement or brace; false at the end of the source.
    [[nodiscard]] bool next(Statement& statement);

    /// Reads `lines` next, `times` times. `conditions` is given back by `leave`. Too deep or too
    /// much text is a mistake that ends the source.
    void enter(std::vector<SourceLine> lines, std::size_t times, std::size_t conditions,
               const Origin& call);

    /// What expansions may still cost. A longer one need not be made in full: reading it ends the
    /// source.
    [[nodiscard]] std::size_t bytes_left() const { return kMaxExpandedBytes - expanded_bytes_; }

    /// Nothing more is read.
    void finish() { frames_.clear(); }

    /// Leaves the innermost expansion; the conditions given to `enter`, or nothing in the source
    /// itself.
    std::optional<std::size_t> leave();

    /// The text up to the statement that starts with one of `closers` (which is read too), where
    /// statements that start with one of `openers` nest. Empty when the text ends before.
    [[nodiscard]] std::optional<std::vector<SourceLine>>
    take_block(std::span<const std::string_view> openers,
               std::span<const std::string_view> closers);

private:
    struct Frame {
        std::vector<SourceLine> lines;
        std::size_t line = 0;
        std::uint32_t column = 0;
        std::size_t repeats_left = 0;
        std::size_t conditions = 0;
        Origin call;
    };
    [[nodiscard]] bool charge(std::size_t bytes);

    std::vector<Frame> frames_;
    Diagnostics& diagnostics_;
    std::size_t expanded_bytes_ = 0;
};

} // namespace tessera::isa::assembly
