// SPDX-License-Identifier: MIT
#include "models/isa/assembler/macro.h"

#include <algorithm>

namespace tessera::isa::assembly {
namespace {

/// An operator joins what stands on its two sides into one argument, blanks or not.
constexpr std::string_view kOperators = "+-~/*=|^&!<>";

class ArgumentReader {
public:
    explicit ArgumentReader(StatementTail tail) : tail_(tail), next_(tail.begin) {}

    [[nodiscard]] bool at_end() const { return next_ >= tail_.end; }
    [[nodiscard]] char peek(std::size_t ahead = 0) const {
        return next_ + ahead < tail_.end ? tail_.line->text[next_ + ahead] : '\0';
    }
    [[nodiscard]] Origin at() const {
        return tail_.line->origin_of(static_cast<std::uint32_t>(next_));
    }
    bool skip_blanks() {
        const std::size_t begin = next_;
        while (is_blank(peek())) {
            ++next_;
        }
        return next_ != begin;
    }
    bool accept(char c) {
        const bool is_there = peek() == c && !at_end();
        next_ += is_there ? 1 : 0;
        return is_there;
    }
    std::string_view name() {
        const std::string_view found = leading_name(rest());
        next_ += found.size();
        return found;
    }
    /// The name before a lone `=`, both read; empty when the argument is none by keyword.
    std::string_view keyword() {
        const std::string_view found = leading_name(rest());
        std::size_t equals = found.size();
        while (is_blank(peek(equals))) {
            ++equals;
        }
        if (found.empty() || peek(equals) != '=' || peek(equals + 1) == '=') {
            return {};
        }
        next_ += equals + 1;
        skip_blanks();
        return found;
    }
    SourceLine rest_of_statement() {
        SourceLine value;
        append_slice(value, *tail_.line, next_, tail_.end);
        next_ = tail_.end;
        return value;
    }

    /// Up to a comma, or to blanks that no operator follows; quotes are dropped.
    SourceLine argument() {
        SourceLine value;
        unsigned parentheses = 0;
        bool has_word = false;
        while (true) {
            const std::size_t blanks = next_;
            const bool has_blanks = skip_blanks();
            if (at_end()) {
                return value;
            }
            if (parentheses == 0) {
                if (peek() == ',') {
                    return value;
                }
                if (is_operator()) {
                    take(value, 1);
                    has_word = true;
                    skip_blanks();
                    continue;
                }
                if (has_blanks && has_word) {
                    return value;
                }
            } else if (has_blanks) {
                append_slice(value, *tail_.line, blanks, next_);
            }
            if (peek() == '(') {
                ++parentheses;
            } else if (peek() == ')' && parentheses != 0) {
                --parentheses;
            }
            word(value);
            has_word = true;
        }
    }

private:
    [[nodiscard]] std::string_view rest() const {
        return std::string_view(tail_.line->text).substr(next_, tail_.end - next_);
    }
    [[nodiscard]] bool is_operator() const {
        return kOperators.find(peek()) != std::string_view::npos ||
               (peek() == '.' && !is_name_character(peek(1)));
    }
    void take(SourceLine& value, std::size_t length) {
        append_slice(value, *tail_.line, next_, next_ + length);
        next_ += length;
    }
    void word(SourceLine& value) {
        const char c = peek();
        if (c == '"' || c == '\'') {
            const std::size_t end = std::min(end_of_quoted(tail_.line->text, next_), tail_.end);
            const bool is_string = c == '"' && end > next_ + 1 && tail_.line->text[end - 1] == '"';
            const std::size_t quote = is_string ? 1 : 0;
            append_slice(value, *tail_.line, next_ + quote, end - quote);
            next_ = end;
            return;
        }
        std::size_t length = 1;
        while (is_name_character(c) && is_name_character(peek(length))) {
            ++length;
        }
        take(value, length);
    }

    StatementTail tail_;
    std::size_t next_;
};

std::string nearest_parameter(const Macro& macro, std::string_view name, Diagnostics& diagnostics) {
    std::vector<std::string_view> names;
    for (const MacroParameter& parameter : macro.parameters) {
        names.push_back(parameter.name);
    }
    return diagnostics.nearest(name, names);
}

std::size_t parameter_number(const Macro& macro, std::string_view name) {
    const auto found =
        std::find_if(macro.parameters.begin(), macro.parameters.end(),
                     [&](const MacroParameter& parameter) { return parameter.name == name; });
    return static_cast<std::size_t>(found - macro.parameters.begin());
}

bool parse_qualifier(ArgumentReader& reader, const Macro& macro, MacroParameter& parameter,
                     Diagnostics& diagnostics) {
    reader.skip_blanks();
    const Origin at = reader.at();
    const std::string_view qualifier = reader.name();
    parameter.is_required = qualifier == "req";
    parameter.is_vararg = qualifier == "vararg";
    if (!parameter.is_required && !parameter.is_vararg) {
        diagnostics.add(at, ".macro " + macro.name + ": parameter '" + parameter.name +
                                "': got ':" + std::string(qualifier) +
                                "', expected :req or :vararg");
        return false;
    }
    return true;
}

/// The default values of what is missing; false where there is none and must be one.
bool complete(const Macro& macro, const Origin& at, std::vector<SourceLine>& values,
              Diagnostics& diagnostics) {
    bool is_ok = true;
    for (std::size_t i = 0; i < macro.parameters.size(); ++i) {
        const MacroParameter& parameter = macro.parameters[i];
        if (!values[i].text.empty()) {
            continue;
        }
        if (parameter.is_required) {
            diagnostics.add(at, "macro '" + macro.name + "': got no value for '" + parameter.name +
                                    "', expected one");
            is_ok = false;
        }
        values[i] = parameter.fallback;
    }
    return is_ok;
}

} // namespace

std::optional<Macro> parse_macro_header(StatementTail tail, Diagnostics& diagnostics) {
    ArgumentReader reader(tail);
    reader.skip_blanks();
    Macro macro;
    macro.at = reader.at();
    macro.name = reader.name();
    if (macro.name.empty()) {
        diagnostics.add(macro.at, ".macro: expected a name");
        return std::nullopt;
    }
    while (true) {
        reader.skip_blanks();
        if (reader.accept(',')) {
            reader.skip_blanks();
        }
        if (reader.at_end()) {
            return macro;
        }
        const Origin at = reader.at();
        MacroParameter parameter;
        parameter.name = reader.name();
        if (parameter.name.empty()) {
            diagnostics.add(at, ".macro " + macro.name + ": got '" + std::string(1, reader.peek()) +
                                    "', expected the name of a parameter");
            return std::nullopt;
        }
        if (parameter_number(macro, parameter.name) != macro.parameters.size()) {
            diagnostics.add(at, ".macro " + macro.name + ": got parameter '" + parameter.name +
                                    "' twice, expected different names");
            return std::nullopt;
        }
        if (!macro.parameters.empty() && macro.parameters.back().is_vararg) {
            diagnostics.add(at, ".macro " + macro.name + ": got a parameter after '" +
                                    macro.parameters.back().name +
                                    ":vararg', expected that to be the last");
            return std::nullopt;
        }
        reader.skip_blanks();
        if (reader.accept(':') && !parse_qualifier(reader, macro, parameter, diagnostics)) {
            return std::nullopt;
        }
        reader.skip_blanks();
        if (reader.accept('=')) {
            reader.skip_blanks();
            parameter.fallback = reader.argument();
        }
        macro.parameters.push_back(std::move(parameter));
    }
}

std::optional<std::vector<SourceLine>> parse_arguments(const Macro& macro, StatementTail tail,
                                                       Diagnostics& diagnostics) {
    ArgumentReader reader(tail);
    std::vector<SourceLine> values(macro.parameters.size());
    const Origin call = tail.at();
    bool is_by_name = false;
    for (std::size_t position = 0;; ++position) {
        reader.skip_blanks();
        if (reader.at_end()) {
            break;
        }
        const Origin at = reader.at();
        if (position >= macro.parameters.size()) {
            diagnostics.add(at, "macro '" + macro.name +
                                    "': got more arguments, expected at most " +
                                    std::to_string(macro.parameters.size()));
            return std::nullopt;
        }
        std::size_t number = position;
        if (const std::string_view name = reader.keyword(); !name.empty()) {
            is_by_name = true;
            number = parameter_number(macro, name);
            if (number == macro.parameters.size()) {
                diagnostics.add(
                    at, "macro '" + macro.name + "': has no parameter '" + std::string(name) + "'",
                    nearest_parameter(macro, name, diagnostics));
                return std::nullopt;
            }
        } else if (is_by_name) {
            diagnostics.add(at, "macro '" + macro.name +
                                    "': got an argument without a name after one with a name");
            return std::nullopt;
        }
        SourceLine value =
            macro.parameters[number].is_vararg ? reader.rest_of_statement() : reader.argument();
        if (!value.text.empty()) {
            values[number] = std::move(value);
        }
        reader.skip_blanks();
        reader.accept(',');
    }
    if (!complete(macro, call, values, diagnostics)) {
        return std::nullopt;
    }
    return values;
}

std::vector<SourceLine> parse_values(StatementTail tail) {
    ArgumentReader reader(tail);
    std::vector<SourceLine> values;
    reader.skip_blanks();
    while (!reader.at_end()) {
        values.push_back(reader.argument());
        reader.skip_blanks();
        reader.accept(',');
        reader.skip_blanks();
    }
    return values;
}

namespace {

/// What stands for the backslash at a column of a line, and the column behind it.
struct Replacement {
    const SourceLine* value = nullptr; ///< or the counter, or nothing
    bool is_counter = false;
    std::size_t end = 0;
    bool is_one = false; ///< false: the backslash stays
};

Replacement replacement_at(std::string_view text, std::size_t backslash,
                           const Substitution& substitution) {
    std::size_t end = backslash + 1;
    if (end < text.size() && text[end] == '@' && substitution.counter) {
        return {nullptr, true, end + 1, true};
    }
    if (text.substr(end, 2) == "()") {
        return {nullptr, false, end + 2, true};
    }
    while (end < text.size() && is_name_character(text[end]) && text[end] != '@') {
        ++end;
    }
    const std::string_view name = text.substr(backslash + 1, end - backslash - 1);
    const auto found = std::find(substitution.names.begin(), substitution.names.end(), name);
    if (found == substitution.names.end()) {
        return {nullptr, false, end, false};
    }
    return {&substitution.values[static_cast<std::size_t>(found - substitution.names.begin())],
            false, end, true};
}

void substitute_line(const SourceLine& line, const Substitution& substitution, SourceLine& target,
                     std::size_t most_bytes) {
    const std::string_view text = line.text;
    std::size_t copied = 0;
    std::size_t at = text.find('\\');
    while (at != std::string_view::npos && cost_bytes(target) <= most_bytes) {
        const Replacement replacement = replacement_at(text, at, substitution);
        if (replacement.is_one) {
            append_slice(target, line, copied, at, substitution.trail);
            copied = replacement.end;
        }
        if (replacement.value != nullptr) {
            append_slice(target, *replacement.value, 0, replacement.value->text.size(),
                         substitution.trail);
        } else if (replacement.is_counter) {
            Origin origin = line.origin_of(static_cast<std::uint32_t>(at));
            origin.trail = substitution.trail.value_or(origin.trail);
            target.pieces.push_back(
                {static_cast<std::uint32_t>(target.text.size()), origin, false});
            target.text += std::to_string(*substitution.counter);
        }
        at = text.find('\\', replacement.end);
    }
    append_slice(target, line, copied, text.size(), substitution.trail);
}

} // namespace

void substitute(const std::vector<SourceLine>& body, const Substitution& substitution,
                std::vector<SourceLine>& lines, std::size_t& bytes_left) {
    for (const SourceLine& line : body) {
        substitute_line(line, substitution, lines.emplace_back(), bytes_left);
        const std::size_t cost = cost_bytes(lines.back());
        if (cost > bytes_left) {
            bytes_left = 0;
            return;
        }
        bytes_left -= cost;
    }
}

} // namespace tessera::isa::assembly
