// SPDX-License-Identifier: MIT
#include "models/isa/assembler/c_preprocessor/expander.h"

#include <algorithm>
#include <utility>

namespace tessera::isa::assembly::cpp {
namespace {

// Far above what people write, low enough that a recursion bomb ends within a second.
constexpr std::size_t kMostStatementLexemes = 1'000'000;
constexpr std::size_t kMostLexemes = 32'000'000;
constexpr std::size_t kMostStatementExpansions = 200'000;
constexpr std::size_t kMostExpansions = 2'000'000;
constexpr std::uint32_t kMostDepth = 400;
constexpr std::uint32_t kMostArgumentDepth = 200;

std::string quoted(std::string_view name) {
    return "'" + std::string(name) + "'";
}

bool is_asked(const std::vector<Lexeme>& before) {
    const auto is_defined = [](const Lexeme& lexeme) {
        return lexeme.kind == LexemeKind::Identifier && lexeme.text == "defined";
    };
    const std::size_t end = before.size();
    return (end > 0 && is_defined(before[end - 1])) ||
           (end > 1 && before[end - 1].is("(") && is_defined(before[end - 2]));
}

} // namespace

void Expander::begin_statement() {
    scratch_.clear();
    expansions_.clear();
    statement_lexemes_ = 0;
}

std::vector<Lexeme> Expander::expand(std::vector<Lexeme> line, const MoreText& more) {
    Stream stream{std::move(line)};
    stream.more = more ? &more : nullptr;
    std::vector<Lexeme> out;
    const Position outer = call_at_;
    run(stream, out);
    call_at_ = outer;
    return out;
}

std::vector<Lexeme> Expander::expand_condition(std::vector<Lexeme> line) {
    // An #if may stand within the arguments of a call that is being expanded.
    const bool outer = std::exchange(in_condition_, true);
    std::vector<Lexeme> out = expand(std::move(line), nullptr);
    in_condition_ = outer;
    return out;
}

void Expander::run(Stream& stream, std::vector<Lexeme>& out) {
    Lexeme lexeme;
    while (take(stream, lexeme)) {
        charge(1, lexeme);
        lexeme.frozen = lexeme.frozen || (in_condition_ && is_asked(out));
        if (lexeme.kind == LexemeKind::Identifier && !lexeme.frozen) {
            if (stream.contexts.empty() && argument_depth_ == 0) {
                call_at_ = lexeme.at;
            }
            Macro* macro = macros_.find(lexeme.text);
            if (macro != nullptr && macro->is_disabled) {
                lexeme.frozen = true;
            } else if (macro != nullptr && try_expand(stream, lexeme, *macro)) {
                continue;
            }
        }
        out.push_back(lexeme);
    }
}

const Lexeme* Expander::peek(Stream& stream) {
    while (!stream.contexts.empty()) {
        Context& context = stream.contexts.back();
        if (context.next < context.text.size()) {
            return &context.text[context.next];
        }
        context.macro->is_disabled = false;
        stream.contexts.pop_back();
    }
    return stream.next < stream.base.size() ? &stream.base[stream.next] : nullptr;
}

bool Expander::take(Stream& stream, Lexeme& lexeme) {
    const Lexeme* next = peek(stream);
    if (next == nullptr) {
        return false;
    }
    lexeme = *next;
    ++(stream.contexts.empty() ? stream.next : stream.contexts.back().next);
    return true;
}

bool Expander::pull(Stream& stream, bool only_call) {
    if (stream.more == nullptr) {
        return false;
    }
    stream.base.clear();
    stream.next = 0;
    return (*stream.more)(stream.base, only_call);
}

bool Expander::follows_call(Stream& stream) {
    const Lexeme* next = peek(stream);
    while (next == nullptr && pull(stream, true)) {
        next = peek(stream);
    }
    return next != nullptr && next->is("(");
}

bool Expander::try_expand(Stream& stream, const Lexeme& name, Macro& macro) {
    std::vector<Lexeme> text;
    if (macro.kind == MacroKind::Object || macro.kind == MacroKind::Function) {
        Arguments arguments;
        if (macro.kind == MacroKind::Function) {
            if (!follows_call(stream)) {
                return false;
            }
            if (!collect(stream, name, macro, arguments) || !fits(name, macro, arguments)) {
                return true;
            }
        }
        text = substitute(macro, arguments, add_expansion(name, macro));
        if (!text.empty()) {
            text.front().blanks = name.blanks;
        } else if (name.blanks != 0) {
            // What the call stood away from still stands away.
            const Lexeme* next = peek(stream);
            if (next != nullptr && next->blanks == 0) {
                auto& context = stream.contexts;
                Lexeme& follower = context.empty() ? stream.base[stream.next]
                                                   : context.back().text[context.back().next];
                follower.blanks = 1;
            }
        }
    } else {
        text.push_back(dynamic_value(name, macro));
    }
    charge(text.size(), name);
    macro.is_disabled = true;
    stream.contexts.push_back({&macro, std::move(text)});
    return true;
}

bool Expander::collect(Stream& stream, const Lexeme& name, const Macro& macro,
                       Arguments& arguments) {
    Lexeme lexeme;
    static_cast<void>(take(stream, lexeme)); // the parenthesis
    std::size_t open = 0;
    arguments.emplace_back();
    while (true) {
        if (!take(stream, lexeme)) {
            if (pull(stream, false)) {
                continue;
            }
            diagnostics_.add(origin_of(name),
                             "call of macro " + quoted(name.text) + " does not end, expected ')'");
            return false;
        }
        charge(1, lexeme);
        if (lexeme.is("(")) {
            ++open;
        } else if (lexeme.is(")")) {
            if (open == 0) {
                return true;
            }
            --open;
        } else if (lexeme.is(",") && open == 0 &&
                   !(macro.is_variadic && arguments.size() == macro.parameters.size())) {
            arguments.emplace_back();
            continue;
        } else if (lexeme.kind == LexemeKind::Identifier && !lexeme.frozen) {
            const Macro* named = macros_.find(lexeme.text);
            lexeme.frozen = named != nullptr && named->is_disabled;
        }
        arguments.back().written.push_back(lexeme);
    }
}

bool Expander::fits(const Lexeme& name, const Macro& macro, Arguments& arguments) {
    const std::size_t wanted = macro.parameters.size();
    if (wanted == 0 && arguments.size() == 1 && arguments[0].written.empty()) {
        arguments.clear();
    }
    if (macro.is_variadic && arguments.size() + 1 == wanted) {
        arguments.emplace_back();
    }
    if (arguments.size() == wanted) {
        return true;
    }
    diagnostics_.add(
        origin_of(name),
        "macro " + quoted(name.text) + ": got " + std::to_string(arguments.size()) +
            " arguments, expected " +
            (macro.is_variadic ? std::to_string(wanted - 1) + " or more" : std::to_string(wanted)));
    return false;
}

const std::vector<Lexeme>& Expander::expanded(Argument& argument) {
    if (!argument.expanded) {
        if (argument_depth_ == kMostArgumentDepth) {
            throw Stop{origin_of(argument.written.front()),
                       "macro calls nested too deeply in arguments, expected at most 200 levels"};
        }
        ++argument_depth_;
        Stream stream{argument.written};
        argument.expanded.emplace();
        run(stream, *argument.expanded);
        --argument_depth_;
    }
    return *argument.expanded;
}

// Appends what the item of the body at `index` stands for and moves on behind it. Next to ## an
// argument is taken as it was written.
void Expander::append_operand(const Macro& macro, std::size_t& index, Arguments& arguments,
                              bool pasted, std::uint32_t expansion, std::vector<Lexeme>& out) {
    Lexeme item = macro.body[index];
    if (macro.kind == MacroKind::Function && item.is("#") && index + 1 < macro.body.size() &&
        macro.body[index + 1].parameter >= 0) {
        ++index;
        const auto parameter = static_cast<std::size_t>(macro.body[index].parameter);
        item = stringify(arguments[parameter].written, item);
    }
    ++index;
    if (item.parameter < 0) {
        item.trail = expansion;
        if (item.at.line == 0) {
            item.at = expansions_[expansion & ~kExpansionBit].call;
        }
        out.push_back(item);
        return;
    }
    Argument& argument = arguments[static_cast<std::size_t>(item.parameter)];
    if (argument.written.empty()) {
        return;
    }
    pasted = pasted || (index < macro.body.size() && macro.body[index].is("##"));
    const std::size_t first = out.size();
    const std::vector<Lexeme>& text = pasted ? argument.written : expanded(argument);
    charge(text.size(), item);
    out.insert(out.end(), text.begin(), text.end());
    if (first < out.size()) {
        out[first].blanks = item.blanks;
    }
}

std::vector<Lexeme> Expander::substitute(const Macro& macro, Arguments& arguments,
                                         std::uint32_t expansion) {
    std::vector<Lexeme> out;
    std::size_t operand = 0;   // where the text of the last operand begins: it may be empty
    bool owes_a_space = false; // what stood behind white space was empty
    for (std::size_t index = 0; index < macro.body.size();) {
        bool is_rest = false;
        bool pastes = macro.body[index].is("##") && index != 0 && index + 1 < macro.body.size();
        if (pastes) {
            const Lexeme& right = macro.body[++index];
            is_rest = macro.is_variadic && out.size() > operand && out.back().is(",") &&
                      right.parameter + 1 == static_cast<std::ptrdiff_t>(macro.parameters.size());
            if (is_rest) {
                // GNU: `, ## rest` drops the comma when there is no rest, and pastes nothing.
                pastes = false;
                if (arguments.back().written.empty()) {
                    out.pop_back();
                }
            }
        }
        const std::size_t left_end = out.size();
        const std::uint32_t blanks = macro.body[index].blanks;
        const bool is_argument = macro.body[index].parameter >= 0;
        append_operand(macro, index, arguments, pastes, expansion, out);
        if (out.size() == left_end) {
            // clang and gcc: beside ## nothing is left of an empty operand, no blank either.
            owes_a_space = owes_a_space || (blanks != 0 && !pastes);
        } else if (pastes && left_end > operand) {
            // clang: white space before a name in the body stays, before a parameter it does not.
            out[left_end].blanks = is_argument ? 0 : blanks;
            paste(out, left_end);
        } else if (owes_a_space) {
            out[left_end].blanks = std::max(out[left_end].blanks, 1U);
            owes_a_space = false;
        }
        if (is_rest && out.size() > left_end) {
            out[left_end].blanks = arguments.back().written.front().blanks;
        }
        operand = pastes ? operand : left_end;
    }
    return out;
}

// Joins the lexemes on both sides of `left_end`. What does not become one lexeme, as `half_` and
// `\`, still stands side by side: clang does the same in assembly sources.
void Expander::paste(std::vector<Lexeme>& out, std::size_t left_end) {
    Lexeme& left = out[left_end - 1];
    Lexeme& right = out[left_end];
    std::string text = std::string(left.text) + std::string(right.text);
    charge(1 + text.size() / 16, left);
    LexemeKind kind{};
    if (!is_single_lexeme(text, kind)) {
        return;
    }
    left.text = scratch_.emplace_back(std::move(text));
    left.kind = kind;
    left.made = true;
    left.frozen = false;
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(left_end));
}

Lexeme Expander::stringify(const std::vector<Lexeme>& written, const Lexeme& like) {
    std::string text = "\"";
    for (std::size_t index = 0; index < written.size(); ++index) {
        const Lexeme& lexeme = written[index];
        if (lexeme.blanks != 0 && index != 0) {
            text += ' ';
        }
        const bool is_quoted =
            lexeme.kind == LexemeKind::String || lexeme.kind == LexemeKind::Character;
        for (const char c : lexeme.text) {
            if (is_quoted && (c == '"' || c == '\\')) {
                text += '\\';
            }
            text += c;
        }
    }
    text += '"';
    charge(1 + text.size() / 16, like);
    Lexeme made = like;
    made.text = scratch_.emplace_back(std::move(text));
    made.kind = LexemeKind::String;
    made.made = true;
    return made;
}

Lexeme Expander::dynamic_value(const Lexeme& name, const Macro& macro) {
    Lexeme value = name;
    value.made = true;
    if (macro.kind == MacroKind::File) {
        std::string text = "\"";
        for (const char c : map_.files[call_at_.file]) {
            if (c == '"' || c == '\\') {
                text += '\\';
            }
            text += c;
        }
        value.kind = LexemeKind::String;
        value.text = scratch_.emplace_back(std::move(text) + '"');
    } else {
        value.kind = LexemeKind::Number;
        value.text = scratch_.emplace_back(
            std::to_string(macro.kind == MacroKind::Line ? call_at_.line : counter_++));
    }
    return value;
}

std::uint32_t Expander::add_expansion(const Lexeme& name, const Macro& macro) {
    const bool is_nested = (name.trail & kExpansionBit) != 0;
    const std::uint32_t depth = is_nested ? expansions_[name.trail & ~kExpansionBit].depth + 1 : 1;
    if (depth > kMostDepth) {
        throw Stop{origin_of(name), "macros expand to each other too deeply, expected at most " +
                                        std::to_string(kMostDepth) + " levels"};
    }
    if (++all_expansions_ > kMostExpansions || expansions_.size() == kMostStatementExpansions) {
        throw Stop{origin_of(name), "too many macro calls, expected at most 200000 in a statement "
                                    "and 2000000 in a source"};
    }
    expansions_.push_back({macro.name, name.at, name.trail, depth});
    return static_cast<std::uint32_t>(expansions_.size() - 1) | kExpansionBit;
}

std::uint32_t Expander::trail_of(std::uint32_t trail) {
    if ((trail & kExpansionBit) == 0) {
        return trail;
    }
    Expansion& expansion = expansions_[trail & ~kExpansionBit];
    if (expansion.trail == 0) {
        const std::uint32_t parent = trail_of(expansion.call_trail); // at most kMostDepth deep
        expansion.trail = static_cast<std::uint32_t>(map_.trails.size());
        map_.trails.push_back(
            {"in the expansion of macro " + quoted(expansion.macro), expansion.call, parent});
    }
    return expansion.trail;
}

void Expander::charge(std::size_t lexemes, const Lexeme& at) {
    statement_lexemes_ += lexemes;
    all_lexemes_ += lexemes;
    if (statement_lexemes_ > kMostStatementLexemes || all_lexemes_ > kMostLexemes) {
        throw Stop{origin_of(at), "macros make too much text, expected at most 1000000 tokens in a "
                                  "statement and 32000000 in a source"};
    }
}

} // namespace tessera::isa::assembly::cpp
