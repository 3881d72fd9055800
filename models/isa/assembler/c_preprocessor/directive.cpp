// SPDX-License-Identifier: MIT
// What the preprocessor does with the lines that begin with '#'.
#include "models/isa/assembler/c_preprocessor/c_preprocessor.h"

namespace tessera::isa::assembly::cpp {
namespace {

constexpr std::size_t kMostIncludeDepth = 100;
constexpr std::size_t kMostIncludes = 20'000;

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && is_blank(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

/// What stands between the two marks, the first of which `text` begins with; or nothing.
std::optional<std::string> between(std::string_view text, char close) {
    const std::size_t end = text.find(close, 1);
    if (end == std::string_view::npos || end == 1) {
        return std::nullopt;
    }
    return std::string(text.substr(1, end - 1));
}

} // namespace

// A line with another name than those below is a comment of the assembler.
void Preprocessor::directive(LogicalLine& line, bool in_call) {
    Directive directive;
    scan(line.text, line.pieces, directive.lexemes);
    if (directive.lexemes.size() < 2 || directive.lexemes[0].text != "#") {
        return;
    }
    const Lexeme& name = directive.lexemes[1];
    directive.name = name.text;
    directive.at = {name.at, name.trail};
    directive.rest = line.text.substr(
        static_cast<std::size_t>(name.text.data() - line.text.data()) + name.text.size());
    if (conditional(directive) || !is_active()) {
        return;
    }
    if (directive.name == "define") {
        if (!line.storage.empty()) {
            // The macro outlives the line.
            const std::string_view kept = macros_.keep(line.storage);
            directive.lexemes.clear();
            scan(kept, line.pieces, directive.lexemes);
        }
        macros_.define(directive.operands(), directive.at, diagnostics_);
    } else if (directive.name == "undef") {
        undefine(directive);
    } else if (directive.name == "include") {
        include(directive, in_call);
    } else if (directive.name == "include_next" || directive.name == "import") {
        diagnostics_.add(directive.at, "#" + std::string(directive.name) +
                                           " is not supported, expected #include");
    } else if (directive.name == "error") {
        diagnostics_.add(directive.at, "#error: " + std::string(trimmed(directive.rest)));
    } else if (directive.name == "pragma" && trimmed(directive.rest) == "once") {
        once_.insert(map_.files[files_.back().reader.file()]);
    }
}

bool Preprocessor::conditional(const Directive& directive) {
    const std::string_view name = directive.name;
    if (name == "if" || name == "ifdef" || name == "ifndef") {
        open_branch(directive);
    } else if (name == "elif" || name == "elifdef" || name == "elifndef" || name == "else") {
        else_branch(directive);
    } else if (name == "endif") {
        end_branch(directive);
    } else {
        return false;
    }
    return true;
}

void Preprocessor::open_branch(const Directive& directive) {
    const bool outer = is_active();
    const bool holds = outer && branch_holds(directive, directive.name);
    files_.back().branches.push_back({directive.at, outer, holds, holds});
}

void Preprocessor::else_branch(const Directive& directive) {
    std::vector<Branch>& branches = files_.back().branches;
    if (branches.empty() || branches.back().had_else) {
        diagnostics_.add(directive.at, "#" + std::string(directive.name) +
                                           (branches.empty() ? " without #if" : " behind #else"));
        return;
    }
    Branch& branch = branches.back();
    const bool may_hold = branch.outer_is_active && !branch.is_done;
    branch.is_active = false;
    branch.had_else = directive.name == "else";
    if (may_hold) {
        branch.is_active = branch.had_else || branch_holds(directive, directive.name.substr(2));
        branch.is_done = branch.is_active;
    }
}

void Preprocessor::end_branch(const Directive& directive) {
    std::vector<Branch>& branches = files_.back().branches;
    if (branches.empty()) {
        diagnostics_.add(directive.at, "#endif without #if");
    } else {
        branches.pop_back();
    }
}

bool Preprocessor::branch_holds(const Directive& directive, std::string_view kind) {
    if (kind == "ifdef") {
        return name_is_defined(directive);
    }
    if (kind == "ifndef") {
        return !name_is_defined(directive);
    }
    return condition_holds(directive.operands(), directive.at, macros_, expander_, diagnostics_);
}

bool Preprocessor::name_is_defined(const Directive& directive) {
    const auto operands = directive.operands();
    if (operands.empty() || operands[0].kind != LexemeKind::Identifier) {
        diagnostics_.add(directive.at,
                         "expected a macro's name behind #" + std::string(directive.name));
        return false;
    }
    return macros_.find(operands[0].text) != nullptr;
}

void Preprocessor::undefine(const Directive& directive) {
    const auto operands = directive.operands();
    if (operands.empty() || operands[0].kind != LexemeKind::Identifier) {
        diagnostics_.add(directive.at, "expected a macro's name behind #undef");
        return;
    }
    macros_.undefine(operands[0].text);
}

std::optional<std::string> Preprocessor::included_name(const Directive& directive,
                                                       bool& is_quoted) {
    std::string text(trimmed(directive.rest));
    if (text.empty() || (text[0] != '"' && text[0] != '<')) {
        const auto operands = directive.operands();
        const SourceLine expanded =
            written(expander_.expand({operands.begin(), operands.end()}, nullptr));
        text = std::string(trimmed(expanded.text));
    }
    if (text.empty() || (text[0] != '"' && text[0] != '<')) {
        return std::nullopt;
    }
    is_quoted = text[0] == '"';
    return between(text, is_quoted ? '"' : '>');
}

void Preprocessor::include(const Directive& directive, bool in_call) {
    bool is_quoted = false;
    const std::optional<std::string> name = included_name(directive, is_quoted);
    if (!name || in_call) {
        diagnostics_.add(directive.at, in_call ? "#include within a macro's arguments"
                                               : "expected \"name\" or <name> behind #include");
        return;
    }
    const std::filesystem::path* beside = is_quoted ? &files_.back().directory : nullptr;
    const IncludedFile* found = search_.find(*name, beside);
    if (found == nullptr) {
        if (const std::string& reason = search_.refusal(); !reason.empty()) {
            diagnostics_.add(directive.at,
                             "cannot read the include file '" + *name + "': " + reason);
        } else {
            diagnostics_.add(directive.at, "cannot find the include file '" + *name + "'",
                             search_.nearest(*name, beside, diagnostics_));
        }
        return;
    }
    if (!once_.contains(found->name)) {
        enter(*found, directive.at);
    }
}

void Preprocessor::enter(const IncludedFile& found, const Origin& at) {
    if (files_.size() > kMostIncludeDepth || ++includes_ > kMostIncludes) {
        throw Stop{at, "'" + found.name +
                           "' is included without end, expected at most 100 files "
                           "within each other and 20000 in all"};
    }
    const auto [number, is_new] =
        file_numbers_.emplace(found.name, static_cast<std::uint32_t>(map_.files.size()));
    if (is_new) {
        map_.files.push_back(found.name);
    }
    const auto trail = static_cast<std::uint32_t>(map_.trails.size());
    map_.trails.push_back({"included from here", at.at, at.trail, true});
    entered_ = File{line_reader(found.text, number->second, trail), found.directory};
}

} // namespace tessera::isa::assembly::cpp
