// SPDX-License-Identifier: MIT
// Directives about text: conditions, macros, repetitions. They work on text, not on tokens, because
// what is skipped or kept for later need not be a statement of the language.
#include "models/isa/assembler/lexer.h"
#include "models/isa/assembler/statement_parser.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tessera::isa::assembly {
namespace {

constexpr std::array<std::string_view, 1> kMacroOpeners = {".macro"};
constexpr std::array<std::string_view, 2> kMacroClosers = {".endm", ".endmacro"};
constexpr std::array<std::string_view, 4> kRepeatOpeners = {".rept", ".rep", ".irp", ".irpc"};
constexpr std::array<std::string_view, 1> kRepeatClosers = {".endr"};
constexpr std::int64_t kMaxRepeats = 1 << 24;

/// Where a condition is an expression that is compared with zero.
struct Comparison {
    std::string_view name;
    bool (*holds)(std::int64_t value);
};
constexpr std::array kComparisons = {
    Comparison{".if", [](std::int64_t value) { return value != 0; }},
    Comparison{".ifne", [](std::int64_t value) { return value != 0; }},
    Comparison{".ifeq", [](std::int64_t value) { return value == 0; }},
    Comparison{".ifgt", [](std::int64_t value) { return value > 0; }},
    Comparison{".ifge", [](std::int64_t value) { return value >= 0; }},
    Comparison{".iflt", [](std::int64_t value) { return value < 0; }},
    Comparison{".ifle", [](std::int64_t value) { return value <= 0; }},
    Comparison{".elseif", [](std::int64_t value) { return value != 0; }},
};
constexpr std::array<std::string_view, 9> kOtherConditions = {
    ".ifb", ".ifnb", ".ifc", ".ifnc", ".ifeqs", ".ifnes", ".ifdef", ".ifndef", ".ifnotdef"};

const Comparison* find_comparison(std::string_view name) {
    const auto* found = std::find_if(kComparisons.begin(), kComparisons.end(),
                                     [&](const Comparison& entry) { return entry.name == name; });
    return found == kComparisons.end() ? nullptr : found;
}

bool opens_condition(std::string_view name) {
    return name != ".elseif" && (find_comparison(name) != nullptr ||
                                 std::find(kOtherConditions.begin(), kOtherConditions.end(),
                                           name) != kOtherConditions.end());
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && is_blank(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

std::string_view unquoted(std::string_view text) {
    text = trimmed(text);
    const bool is_quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    return is_quoted ? text.substr(1, text.size() - 2) : text;
}

StatementTail tail_of(const Statement& read, std::size_t name_length) {
    std::size_t begin = read.begin + name_length;
    while (begin < read.end && is_blank(read.line->text[begin])) {
        ++begin;
    }
    return {read.line, begin, read.end};
}

} // namespace

bool StatementParser::is_skipping() const {
    return !conditions_.empty() && conditions_.back().is_skipping;
}

// ---- conditions

/// Handles the directives about conditions, also where text is skipped; false for all others.
bool StatementParser::conditional(const Statement& read, std::string_view name) {
    if (name.empty() || name[0] != '.') {
        return false;
    }
    const StatementTail tail = tail_of(read, name.size());
    if (opens_condition(name)) {
        Condition condition;
        condition.at = read.at();
        condition.was_skipping = is_skipping();
        condition.is_met = !condition.was_skipping && is_true(read, name, tail);
        condition.is_skipping = !condition.is_met;
        conditions_.push_back(condition);
        return true;
    }
    if (name != ".elseif" && name != ".else" && name != ".endif") {
        return false;
    }
    if (conditions_.empty()) {
        state_.diagnostics.add(read.at(), std::string(name) + ": no .if is open");
        return true;
    }
    if (name == ".endif") {
        conditions_.pop_back();
        return true;
    }
    if (conditions_.back().has_else) {
        state_.diagnostics.add(read.at(),
                               std::string(name) + ": got it after .else, expected .endif");
        return true;
    }
    const bool is_else = name == ".else";
    const bool may_be_taken = !conditions_.back().was_skipping && !conditions_.back().is_met;
    const bool is_taken = may_be_taken && (is_else || is_true(read, name, tail));
    Condition& condition = conditions_.back();
    condition.has_else = is_else;
    condition.is_met = condition.is_met || is_taken;
    condition.is_skipping = !is_taken;
    return true;
}

bool StatementParser::is_true(const Statement& read, std::string_view name, StatementTail tail) {
    if (const Comparison* comparison = find_comparison(name)) {
        const auto value = number_of(read, tail, name);
        return value && comparison->holds(*value);
    }
    if (name == ".ifb" || name == ".ifnb") {
        return trimmed(tail.text()).empty() == (name == ".ifb");
    }
    if (name == ".ifdef" || name == ".ifndef" || name == ".ifnotdef") {
        const std::string_view symbol = leading_symbol(tail.text());
        if (symbol.empty() || symbol.size() != tail.text().size()) {
            state_.diagnostics.add(tail.at(), std::string(name) + ": expected a name");
            return false;
        }
        return state_.evaluator.is_defined(state_.file, symbol) == (name == ".ifdef");
    }
    return compare_texts(tail, name);
}

/// The value of the expression that the statement goes on with, which must be known here.
std::optional<std::int64_t> StatementParser::number_of(const Statement& read, StatementTail tail,
                                                       std::string_view name) {
    Statement expression_text = read;
    expression_text.begin = static_cast<std::uint32_t>(tail.begin);
    state_.here = {section_, section().bytes};
    start_tokens(expression_text);
    const std::size_t nodes = state_.unit.nodes.size();
    const auto expression = parse_expression(state_);
    if (!expression) {
        return std::nullopt;
    }
    const auto value = state_.evaluator.early(*expression);
    state_.unit.nodes.resize(nodes);
    end_statement();
    if (!value || !value->is_absolute()) {
        state_.diagnostics.add(tail.at(), std::string(name) +
                                              ": got a value that is not known yet, expected a "
                                              "number or a difference of labels above");
        return std::nullopt;
    }
    return value->number;
}

bool StatementParser::compare_texts(StatementTail tail, std::string_view name) {
    const std::string_view text = tail.text();
    std::size_t comma = 0;
    while (comma < text.size() && text[comma] != ',') {
        comma = text[comma] == '"' ? end_of_quoted(text, comma) : comma + 1;
    }
    if (comma >= text.size()) {
        state_.diagnostics.add(tail.at(), std::string(name) +
                                              ": got one text, expected two with a comma between");
        return false;
    }
    const bool is_equal = unquoted(text.substr(0, comma)) == unquoted(text.substr(comma + 1));
    return is_equal == (name == ".ifc" || name == ".ifeqs");
}

void StatementParser::finish_conditions() {
    for (const Condition& condition : conditions_) {
        state_.diagnostics.add(condition.at, ".if: got the end of the file, expected .endif");
    }
}

// ---- macros

std::uint32_t StatementParser::add_trail(std::string what, const Origin& call) {
    map_.trails.push_back({std::move(what), call.at, call.trail, false});
    return static_cast<std::uint32_t>(map_.trails.size() - 1);
}

namespace {

/// A lone `=`, behind blanks.
bool starts_assignment(std::string_view text) {
    const std::size_t at = text.find_first_not_of(" \t");
    return at != std::string_view::npos && text[at] == '=' && text.substr(at, 2) != "==";
}

} // namespace

/// Expands a call; false when the name is no macro.
bool StatementParser::expand_macro(const Statement& read, std::string_view name) {
    const auto found = macros_.find(name);
    if (found == macros_.end()) {
        return false;
    }
    if (starts_assignment(tail_of(read, name.size()).text())) {
        return false; // a symbol of the macro's name
    }
    const Macro& macro = found->second;
    const Origin call = read.at();
    const auto values =
        parse_arguments(macro, tail_of(read, name.size()), alternate_mode(), state_.diagnostics);
    if (!values) {
        if (bundle_) {
            bundle_->is_ok = false;
        }
        return true;
    }
    Substitution substitution;
    for (const MacroParameter& parameter : macro.parameters) {
        substitution.names.push_back(parameter.name);
    }
    substitution.values = *values;
    substitution.counter = expansions_++;
    substitution.is_alternate = is_alternate_;
    substitution.locals = &locals_;
    substitution.trail = add_trail("in the expansion of macro '" + macro.name + "'", call);
    std::vector<SourceLine> lines;
    std::size_t bytes_left = text_.bytes_left();
    substitute(macro.body, substitution, lines, bytes_left);
    text_.enter(std::move(lines), 1, conditions_.size(), call);
    return true;
}

std::optional<std::int64_t> StatementParser::value_of_text(const SourceLine& text) {
    Statement statement;
    statement.line = &text;
    statement.end = static_cast<std::uint32_t>(text.text.size());
    return number_of(statement, {&text, 0, text.text.size()}, "%");
}

AlternateMode StatementParser::alternate_mode() {
    return {is_alternate_, [this](const SourceLine& text) { return value_of_text(text); }};
}

/// Handles the directives that define or repeat text; false for all others.
bool StatementParser::text_directive(const Statement& read, std::string_view name) {
    if (name.empty() || name[0] != '.') {
        return false;
    }
    const StatementTail tail = tail_of(read, name.size());
    if (name == ".macro") {
        define_macro(tail, read.at());
    } else if (name == ".purgem") {
        const std::string_view macro = leading_name(tail.text());
        if (macros_.erase(std::string(macro)) == 0) {
            state_.diagnostics.add(tail.at(),
                                   ".purgem: got '" + std::string(macro) + "', expected a macro");
        }
    } else if (name == ".exitm") {
        if (const auto conditions = text_.leave()) {
            conditions_.resize(std::min(conditions_.size(), *conditions));
        } else {
            state_.diagnostics.add(read.at(), ".exitm: got it outside a macro");
        }
    } else if (name == ".altmacro" || name == ".noaltmacro") {
        is_alternate_ = name == ".altmacro";
    } else if (name == ".end") {
        text_.finish();
    } else if (name == ".rept" || name == ".rep") {
        repeat(read, tail, name);
    } else if (name == ".irp" || name == ".irpc") {
        repeat_for_each(tail, name, name == ".irpc");
    } else if (name == ".endm" || name == ".endmacro" || name == ".endr") {
        state_.diagnostics.add(read.at(), std::string(name) + ": got it without a " +
                                              (name == ".endr" ? ".rept" : ".macro"));
    } else {
        return false;
    }
    return true;
}

void StatementParser::define_macro(StatementTail tail, const Origin& at) {
    auto macro = parse_macro_header(tail, state_.diagnostics);
    auto body = text_.take_block(kMacroOpeners, kMacroClosers);
    if (!body) {
        state_.diagnostics.add(at, ".macro: got the end of the text, expected .endm");
        return;
    }
    if (!macro) {
        return;
    }
    if (const auto before = macros_.find(macro->name); before != macros_.end()) {
        state_.diagnostics.add(macro->at,
                               "macro '" + macro->name + "': defined in line " +
                                   std::to_string(before->second.at.at.line) +
                                   " already, expected a new name",
                               ".purgem forgets the old one");
        return;
    }
    macro->body = std::move(*body);
    const std::string name = macro->name;
    macros_.emplace(name, std::move(*macro));
}

// ---- repetitions

std::optional<std::vector<SourceLine>> StatementParser::repeated_block(std::string_view name,
                                                                       const Origin& at) {
    auto block = text_.take_block(kRepeatOpeners, kRepeatClosers);
    if (!block) {
        state_.diagnostics.add(at, std::string(name) + ": got the end of the text, expected .endr");
    }
    return block;
}

void StatementParser::repeat(const Statement& read, StatementTail tail, std::string_view name) {
    const Origin at = read.at();
    const auto times = number_of(read, tail, name);
    const Origin number_at = tail.at();
    const auto block = repeated_block(name, at);
    if (!times || !block) {
        return;
    }
    if (*times < 0 || *times > kMaxRepeats) {
        state_.diagnostics.add(number_at, std::string(name) + ": got " + std::to_string(*times) +
                                              ", expected 0.." + std::to_string(kMaxRepeats));
        return;
    }
    std::vector<SourceLine> lines;
    std::size_t bytes_left = text_.bytes_left();
    substitute(*block, {}, lines, bytes_left);
    text_.enter(std::move(lines), static_cast<std::size_t>(*times), conditions_.size(), at);
}

void StatementParser::repeat_for_each(StatementTail tail, std::string_view name,
                                      bool by_character) {
    const Origin at = tail.at();
    const std::string parameter(leading_name(tail.text()));
    tail.begin += parameter.size();
    while (tail.begin < tail.end && is_blank(tail.line->text[tail.begin])) {
        ++tail.begin;
    }
    const bool has_comma = tail.begin < tail.end && tail.line->text[tail.begin] == ',';
    if (has_comma) {
        ++tail.begin;
    }
    std::vector<SourceLine> values = parse_values(tail, alternate_mode());
    const auto block = repeated_block(name, at);
    if (!block) {
        return;
    }
    if (parameter.empty()) {
        state_.diagnostics.add(at, std::string(name) + ": expected the name of a parameter");
        return;
    }
    if (values.empty()) {
        values.emplace_back();
    }
    if (by_character) {
        const SourceLine text = std::move(values.front());
        values.clear();
        for (std::size_t i = 0; i < text.text.size(); ++i) {
            append_slice(values.emplace_back(), text, i, i + 1);
        }
    }
    std::vector<SourceLine> lines;
    std::size_t bytes_left = text_.bytes_left();
    for (const SourceLine& value : values) {
        Substitution substitution;
        substitution.names = {parameter};
        substitution.values = std::span(&value, 1);
        substitution.is_alternate = is_alternate_;
        substitute(*block, substitution, lines, bytes_left);
        if (bytes_left == 0) {
            break;
        }
    }
    text_.enter(std::move(lines), 1, conditions_.size(), at);
}

} // namespace tessera::isa::assembly
