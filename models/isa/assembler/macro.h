// SPDX-License-Identifier: MIT
// Macros of the assembler itself (`.macro`, `.irp`, `.irpc`): how they are declared, what the words
// of a call are as arguments, and the text that comes of it. As LLVM's assembler reads them for ELF
// targets (llvm/lib/MC/MCParser/AsmParser.cpp, parseMacroArguments and expandMacro).
#pragma once

#include "models/isa/assembler/diagnostics.h"
#include "models/isa/assembler/source_text.h"
#include "models/isa/assembler/text_stack.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::isa::assembly {

struct MacroParameter {
    std::string name;
    SourceLine fallback; ///< the value of a missing argument; empty: none
    bool is_required = false;
    bool is_vararg = false;
};

struct Macro {
    std::string name;
    std::vector<MacroParameter> parameters;
    std::vector<SourceLine> body;
    Origin at;
};

/// The rest of a statement, from `begin` on.
struct StatementTail {
    const SourceLine* line = nullptr;
    std::size_t begin = 0;
    std::size_t end = 0;

    [[nodiscard]] std::string_view text() const {
        return std::string_view(line->text).substr(begin, end - begin);
    }
    [[nodiscard]] Origin at() const { return line->origin_of(static_cast<std::uint32_t>(begin)); }
};

/// Name and parameters of a `.macro` statement, whose body is not read yet. Empty after a mistake.
[[nodiscard]] std::optional<Macro> parse_macro_header(StatementTail tail, Diagnostics& diagnostics);

/// What .altmacro adds, as GNU assemblers have it: `<text>` and `!c`, which keep what would end an
/// argument, `%expression`, whose value is the argument, parameters named without a backslash, and
/// LOCAL.
struct AlternateMode {
    bool is_on = false;
    /// The value of an expression; empty, and told, where it has none yet.
    std::function<std::optional<std::int64_t>(const SourceLine&)> value_of;
};

/// One text a parameter. Empty after a mistake.
[[nodiscard]] std::optional<std::vector<SourceLine>> parse_arguments(const Macro& macro,
                                                                     StatementTail tail,
                                                                     const AlternateMode& alternate,
                                                                     Diagnostics& diagnostics);

/// Any number of arguments: the values of `.irp`.
[[nodiscard]] std::vector<SourceLine> parse_values(StatementTail tail,
                                                   const AlternateMode& alternate);

struct Substitution {
    std::vector<std::string_view> names;  ///< of the parameters
    std::span<const SourceLine> values;   ///< one a name
    std::optional<std::uint64_t> counter; ///< what `\@` stands for; empty: itself
    std::optional<std::uint32_t> trail;   ///< of all text of the expansion; empty: its own
    bool is_alternate = false;            ///< names without a backslash too, and LOCAL
    std::uint64_t* locals = nullptr; ///< counts the names that LOCAL makes; null: it makes none
};

/// The body with `\name`, `\@` and `\()` replaced, appended to `lines`. Takes what it costs off
/// `bytes_left`, and stops soon after that is used up.
void substitute(const std::vector<SourceLine>& body, const Substitution& substitution,
                std::vector<SourceLine>& lines, std::size_t& bytes_left);

} // namespace tessera::isa::assembly
