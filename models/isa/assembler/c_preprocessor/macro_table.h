// SPDX-License-Identifier: MIT
// The C macros that are defined at one moment.
#pragma once

#include "models/isa/assembler/c_preprocessor/lexeme.h"
#include "models/isa/assembler/diagnostics.h"

#include <deque>
#include <span>
#include <unordered_map>

namespace tessera::isa::assembly::cpp {

enum class MacroKind : std::uint8_t { Object, Function, File, Line, Counter };

struct Macro {
    std::string_view name;
    Position at; ///< line 0: predefined, stands nowhere
    MacroKind kind = MacroKind::Object;
    bool is_variadic = false; ///< the last parameter takes the rest
    bool is_disabled = false; ///< being expanded: its name does not expand again
    std::vector<std::string_view> parameters;
    std::vector<Lexeme> body;
};

class MacroTable {
public:
    /// Null when the name is no macro. Valid for the table's life, also after #undef.
    [[nodiscard]] Macro* find(std::string_view name) const {
        const auto found = by_name_.find(name);
        return found == by_name_.end() ? nullptr : found->second;
    }

    /// The lexemes behind `#define`; `directive` is where to report what is missing.
    void define(std::span<const Lexeme> definition, const Origin& directive,
                Diagnostics& diagnostics);
    /// A macro that stands in no file: `name` or `name(parameters)`.
    void predefine(std::string_view name, std::string_view text, std::uint32_t file,
                   Diagnostics& diagnostics);
    void define_dynamic(std::string_view name, MacroKind kind);
    void undefine(std::string_view name) { by_name_.erase(name); }

    /// A copy of the text that lives as long as the table.
    [[nodiscard]] std::string_view keep(std::string text) {
        return texts_.emplace_back(std::move(text));
    }

private:
    std::unordered_map<std::string_view, Macro*> by_name_;
    std::deque<Macro> macros_;
    std::deque<std::string> texts_;
};

} // namespace tessera::isa::assembly::cpp
