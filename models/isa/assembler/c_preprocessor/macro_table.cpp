// SPDX-License-Identifier: MIT
#include "models/isa/assembler/c_preprocessor/macro_table.h"

#include <algorithm>

namespace tessera::isa::assembly::cpp {
namespace {

constexpr std::size_t kMostParameters = 1000;

/// Reads one definition from left to right.
class Definition {
public:
    Definition(std::span<const Lexeme> lexemes, Macro& macro, const Origin& directive,
               Diagnostics& diagnostics)
        : lexemes_(lexemes), macro_(macro), directive_(directive), diagnostics_(diagnostics) {}

    bool read() {
        if (lexemes_.empty() || lexemes_[0].kind != LexemeKind::Identifier ||
            lexemes_[0].text == "defined") {
            return fail(0, "expected a macro's name behind #define");
        }
        macro_.name = lexemes_[0].text;
        macro_.at = lexemes_[0].at;
        next_ = 1;
        if (next_ < lexemes_.size() && lexemes_[next_].is("(") && lexemes_[next_].blanks == 0) {
            ++next_;
            macro_.kind = MacroKind::Function;
            if (!read_parameters()) {
                return false;
            }
        }
        return read_body();
    }

private:
    bool fail(std::size_t index, std::string message) {
        const Origin at = index < lexemes_.size()
                              ? Origin{lexemes_[index].at, lexemes_[index].trail}
                              : directive_;
        diagnostics_.add(at, std::move(message));
        return false;
    }

    [[nodiscard]] bool take(std::string_view punctuation) {
        if (next_ < lexemes_.size() && lexemes_[next_].is(punctuation)) {
            ++next_;
            return true;
        }
        return false;
    }

    bool read_parameters() {
        if (take(")")) {
            return true;
        }
        while (true) {
            if (!read_parameter()) {
                return false;
            }
            if (take(")")) {
                return true;
            }
            if (macro_.is_variadic || !take(",")) {
                return fail(next_, macro_.is_variadic
                                       ? "expected ')' behind '...'"
                                       : "expected ',' or ')' in a macro's parameter list");
            }
        }
    }

    bool read_parameter() {
        std::string_view name = "__VA_ARGS__";
        if (take("...")) {
            macro_.is_variadic = true;
        } else {
            if (next_ == lexemes_.size() || lexemes_[next_].kind != LexemeKind::Identifier) {
                return fail(next_, "expected a parameter's name");
            }
            name = lexemes_[next_++].text;
            macro_.is_variadic = take("..."); // GNU: `rest...`
        }
        if (std::find(macro_.parameters.begin(), macro_.parameters.end(), name) !=
            macro_.parameters.end()) {
            return fail(next_ - 1, "parameter '" + std::string(name) + "' is there already");
        }
        if (macro_.parameters.size() == kMostParameters) {
            return fail(next_ - 1, "a macro has at most 1000 parameters");
        }
        macro_.parameters.push_back(name);
        return true;
    }

    bool read_body() {
        std::unordered_map<std::string_view, std::int16_t> index_of;
        for (std::size_t index = 0; index < macro_.parameters.size(); ++index) {
            index_of.emplace(macro_.parameters[index], static_cast<std::int16_t>(index));
        }
        macro_.body.assign(lexemes_.begin() + static_cast<std::ptrdiff_t>(next_), lexemes_.end());
        for (Lexeme& lexeme : macro_.body) {
            const auto found =
                lexeme.kind == LexemeKind::Identifier ? index_of.find(lexeme.text) : index_of.end();
            lexeme.parameter = found == index_of.end() ? std::int16_t{-1} : found->second;
        }
        if (!macro_.body.empty() && (macro_.body.front().is("##") || macro_.body.back().is("##"))) {
            return fail(macro_.body.front().is("##") ? next_ : lexemes_.size() - 1,
                        "'##' at an end of a macro's text, expected it between two tokens");
        }
        return true;
    }

    std::span<const Lexeme> lexemes_;
    Macro& macro_;
    Origin directive_;
    Diagnostics& diagnostics_;
    std::size_t next_ = 0;
};

} // namespace

void MacroTable::define(std::span<const Lexeme> definition, const Origin& directive,
                        Diagnostics& diagnostics) {
    Macro macro;
    if (Definition(definition, macro, directive, diagnostics).read()) {
        Macro& kept = macros_.emplace_back(std::move(macro));
        by_name_.insert_or_assign(kept.name, &kept);
    }
}

void MacroTable::predefine(std::string_view name, std::string_view text, std::uint32_t file,
                           Diagnostics& diagnostics) {
    const std::string_view line = keep(std::string(name) + " " + std::string(text));
    const Origin nowhere{{file, 0, 0}, 0};
    std::vector<Lexeme> lexemes;
    scan(line, {Piece{0, nowhere, true}}, lexemes);
    for (Lexeme& lexeme : lexemes) {
        lexeme.at = nowhere.at;
        lexeme.made = true;
    }
    define(lexemes, nowhere, diagnostics);
}

void MacroTable::define_dynamic(std::string_view name, MacroKind kind) {
    Macro& macro = macros_.emplace_back();
    macro.name = name;
    macro.kind = kind;
    by_name_.insert_or_assign(name, &macro);
}

} // namespace tessera::isa::assembly::cpp
