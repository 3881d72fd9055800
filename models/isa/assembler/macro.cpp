// SPDX-License-Identifier: MIT
#include "models/isa/assembler/macro.h"

#include <algorithm>

namespace tessera::isa::assembly {
namespace {

/// An operator joins what stands on its two sides into one argument, blanks or not.
constexpr std::string_view kOperators = "+-~/*=|^&!<>";

class ArgumentReader {
public:
    ArgumentReader(StatementTail tail, const AlternateMode& alternate)
        : tail_(tail), alternate_(alternate), next_(tail.begin) {}

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
        if (alternate_.is_on && peek() == '%') {
            return number_argument();
        }
        if (alternate_.is_on && (peek() == '<' || peek() == '"' || peek() == '\'')) {
            return text_argument();
        }
        return plain_argument();
    }

private:
    /// `%expression`: its value in decimal.
    SourceLine number_argument() {
        const Origin at = this->at();
        ++next_;
        skip_blanks();
        const auto number = alternate_.value_of(plain_argument());
        SourceLine value;
        if (number) {
            value.text = std::to_string(*number);
            value.pieces.push_back({0, at, false});
        }
        return value;
    }

    /// `<text>` without its brackets, `"text"` and `'text'` in double quotes; `!` keeps the character
    /// behind it.
    SourceLine text_argument() {
        SourceLine value;
        while (!at_end() && (peek() == '<' || peek() == '"' || peek() == '\'')) {
            const char opener = peek();
            const char closer = opener == '<' ? '>' : opener;
            if (opener != '<') {
                append_quote(value);
            }
            ++next_;
            for (unsigned depth = 0; !at_end() && (peek() != closer || depth != 0);) {
                const bool is_kept = peek() == '!' && next_ + 1 < tail_.end;
                next_ += is_kept ? 1 : 0;
                if (!is_kept && opener == '<') {
                    depth += peek() == '<' ? 1U : 0U;
                    depth -= peek() == '>' ? 1U : 0U;
                }
                take(value, 1);
            }
            next_ += at_end() ? 0 : 1;
            if (opener != '<') {
                append_quote(value);
            }
        }
        return value;
    }

    void append_quote(SourceLine& value) const {
        value.pieces.push_back({static_cast<std::uint32_t>(value.text.size()), at(), false});
        value.text += '"';
    }

    SourceLine plain_argument() {
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
            const auto closing = c == '"' ? closing_quote(tail_.line->text, next_) : std::nullopt;
            const std::size_t quote = closing && *closing < tail_.end ? 1 : 0; // of a whole string
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
    const AlternateMode& alternate_;
    std::size_t next_;
};

const AlternateMode kNotAlternate;

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
    ArgumentReader reader(tail, kNotAlternate);
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
                                                       const AlternateMode& alternate,
                                                       Diagnostics& diagnostics) {
    ArgumentReader reader(tail, alternate);
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

std::vector<SourceLine> parse_values(StatementTail tail, const AlternateMode& alternate) {
    ArgumentReader reader(tail, alternate);
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

constexpr std::string_view kLocal = "LOCAL";

bool begins_name(char c) {
    return is_letter(c) || c == '.';
}

/// Where a name ends that begins at `at`.
std::size_t name_end(std::string_view text, std::size_t at) {
    while (at < text.size() && is_name_character(text[at]) && text[at] != '@') {
        ++at;
    }
    return at;
}

bool is_local_line(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
    const std::string_view word = text.substr(begin, kLocal.size());
    const std::size_t end = begin + kLocal.size();
    return end < text.size() && is_blank(text[end]) &&
           std::equal(word.begin(), word.end(), kLocal.begin(), kLocal.end(),
                      [](char a, char b) { return a == b || a == b - 'A' + 'a'; });
}

class Substituter {
public:
    explicit Substituter(const Substitution& substitution) : substitution_(substitution) {}

    /// Whether the line only names locals, which have values from here on.
    bool takes_locals(const SourceLine& line) {
        if (!substitution_.is_alternate || substitution_.locals == nullptr ||
            !is_local_line(line.text)) {
            return false;
        }
        const std::string_view text = line.text;
        std::size_t at = text.find_first_not_of(" \t") + kLocal.size();
        while ((at = text.find_first_not_of(" \t,", at)) != std::string_view::npos &&
               begins_name(text[at])) {
            const std::size_t end = name_end(text, at);
            add_local(text.substr(at, end - at), line.origin_of(static_cast<std::uint32_t>(at)));
            at = end;
        }
        return true;
    }

    void substitute(const SourceLine& line, SourceLine& target, std::size_t most_bytes) const {
        const std::string_view text = line.text;
        std::size_t copied = 0;
        std::size_t at = next_place(text, 0);
        while (at != std::string_view::npos && cost_bytes(target) <= most_bytes) {
            const Replacement replacement = replacement_at(text, at);
            if (replacement.is_one) {
                append_slice(target, line, copied, at, substitution_.trail);
                copied = replacement.end;
            }
            if (replacement.value != nullptr) {
                append_slice(target, *replacement.value, 0, replacement.value->text.size(),
                             substitution_.trail);
            } else if (replacement.is_counter) {
                Origin origin = line.origin_of(static_cast<std::uint32_t>(at));
                origin.trail = substitution_.trail.value_or(origin.trail);
                target.pieces.push_back(
                    {static_cast<std::uint32_t>(target.text.size()), origin, false});
                target.text += std::to_string(*substitution_.counter);
            }
            at = next_place(text, replacement.end);
        }
        append_slice(target, line, copied, text.size(), substitution_.trail);
    }

private:
    void add_local(std::string_view name, const Origin& at) {
        constexpr std::string_view kDigits = "0123456789abcdef";
        std::string number;
        for (std::uint64_t rest = ++*substitution_.locals; rest != 0 || number.size() < 4;
             rest /= 16) {
            number.insert(number.begin(), kDigits[rest % 16]);
        }
        local_names_.emplace_back(name);
        SourceLine& value = local_values_.emplace_back();
        value.text = ".LL" + number;
        value.pieces.push_back({0, at, false});
    }

    [[nodiscard]] const SourceLine* value_of(std::string_view name) const {
        const auto& names = substitution_.names;
        const auto found = std::find(names.begin(), names.end(), name);
        if (found != names.end()) {
            return &substitution_.values[static_cast<std::size_t>(found - names.begin())];
        }
        const auto local = std::find(local_names_.begin(), local_names_.end(), name);
        return local == local_names_.end()
                   ? nullptr
                   : &local_values_[static_cast<std::size_t>(local - local_names_.begin())];
    }

    /// The next column where something may be replaced; npos where there is none.
    [[nodiscard]] std::size_t next_place(std::string_view text, std::size_t at) const {
        if (!substitution_.is_alternate) {
            return text.find('\\', at);
        }
        while (at < text.size() && text[at] != '\\' && text[at] != '&' && !begins_name(text[at])) {
            at = is_digit(text[at]) ? name_end(text, at) : at + 1;
        }
        return at < text.size() ? at : std::string_view::npos;
    }

    [[nodiscard]] Replacement replacement_at(std::string_view text, std::size_t at) const {
        std::size_t begin = at + (begins_name(text[at]) ? 0 : 1);
        if (text[at] == '\\' && begin < text.size() && text[begin] == '@' &&
            substitution_.counter) {
            return {nullptr, true, begin + 1, true};
        }
        if (text[at] == '\\' && text.substr(begin, 2) == "()") {
            return {nullptr, false, begin + 2, true};
        }
        std::size_t end = name_end(text, begin);
        const SourceLine* value = value_of(text.substr(begin, end - begin));
        if (value != nullptr && text[at] == '&' && end < text.size() && text[end] == '&') {
            ++end; // `&name&`
        }
        return {value, false, std::max(end, at + 1), value != nullptr};
    }

    const Substitution& substitution_;
    std::vector<std::string> local_names_;
    std::vector<SourceLine> local_values_;
};

} // namespace

void substitute(const std::vector<SourceLine>& body, const Substitution& substitution,
                std::vector<SourceLine>& lines, std::size_t& bytes_left) {
    Substituter substituter(substitution);
    for (const SourceLine& line : body) {
        SourceLine& target = lines.emplace_back();
        if (!substituter.takes_locals(line)) {
            substituter.substitute(line, target, bytes_left);
        }
        const std::size_t cost = cost_bytes(target);
        if (cost > bytes_left) {
            bytes_left = 0;
            return;
        }
        bytes_left -= cost;
    }
}

} // namespace tessera::isa::assembly
