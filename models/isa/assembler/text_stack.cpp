// SPDX-License-Identifier: MIT
#include "models/isa/assembler/text_stack.h"

#include <algorithm>
#include <utility>

namespace tessera::isa::assembly {
namespace {

/// The statement or brace at or after `column`; false when the line holds no more.
bool scan(const SourceLine& line, std::uint32_t column, Statement& statement) {
    const std::string_view text = line.text;
    std::size_t at = column;
    while (at < text.size() && (is_blank(text[at]) || text[at] == ';')) {
        ++at;
    }
    if (at >= text.size() || text[at] == '#') {
        return false;
    }
    statement.line = &line;
    statement.begin = static_cast<std::uint32_t>(at);
    if (text[at] == '{' || text[at] == '}') {
        statement.kind = text[at] == '{' ? Statement::Kind::Open : Statement::Kind::Close;
        statement.end = statement.begin + 1;
        statement.next = statement.end;
        return true;
    }
    statement.kind = Statement::Kind::Text;
    while (at < text.size() && text[at] != ';' && text[at] != '{' && text[at] != '}' &&
           text[at] != '#') {
        at = text[at] == '"' || text[at] == '\'' ? end_of_quoted(text, at) : at + 1;
    }
    std::size_t end = at;
    while (end > statement.begin && is_blank(text[end - 1])) {
        --end;
    }
    const bool is_last = at >= text.size() || text[at] == '#';
    statement.end = static_cast<std::uint32_t>(end);
    statement.terminator = is_last ? '\n' : text[at];
    statement.next = static_cast<std::uint32_t>(is_last ? text.size() : at);
    return true;
}

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

std::string_view leading_name(std::string_view text) {
    const bool is_name =
        !text.empty() &&
        (is_letter(text[0]) || (text[0] == '.' && text.size() > 1 && is_name_character(text[1])));
    std::size_t end = is_name ? 1 : 0;
    while (is_name && end < text.size() && is_name_character(text[end])) {
        ++end;
    }
    return text.substr(0, end);
}

std::string_view leading_symbol(std::string_view text) {
    const std::size_t dollar = text.size() > 1 && text[0] == '$' && is_letter(text[1]) ? 1 : 0;
    const std::size_t length = leading_name(text.substr(dollar)).size();
    return text.substr(0, length == 0 ? 0 : dollar + length);
}

std::optional<std::size_t> closing_quote(std::string_view text, std::size_t column) {
    for (std::size_t at = column + 1; at < text.size(); ++at) {
        if (text[at] == '\\') {
            ++at;
        } else if (text[at] == text[column]) {
            return at;
        }
    }
    return std::nullopt;
}

std::size_t end_of_quoted(std::string_view text, std::size_t column) {
    if (text[column] == '\'') {
        // A character, not an apostrophe.
        const std::size_t last =
            column + 2 + (column + 1 < text.size() && text[column + 1] == '\\' ? 1U : 0U);
        return last < text.size() && text[last] == '\'' ? last + 1 : column + 1;
    }
    const auto closing = closing_quote(text, column);
    return closing ? *closing + 1 : text.size();
}

void append_slice(SourceLine& target, const SourceLine& from, std::size_t begin, std::size_t end,
                  std::optional<std::uint32_t> trail) {
    if (begin >= end) {
        return;
    }
    const auto base = static_cast<std::uint32_t>(target.text.size());
    target.text.append(from.text, begin, end - begin);
    auto piece =
        std::upper_bound(from.pieces.begin(), from.pieces.end(), begin,
                         [](std::size_t column, const Piece& p) { return column < p.column; });
    if (piece != from.pieces.begin()) {
        --piece;
    }
    for (; piece != from.pieces.end() && piece->column < end; ++piece) {
        Piece copy = *piece;
        const std::size_t start = std::max<std::size_t>(begin, piece->column);
        if (piece->verbatim) {
            copy.from.at.column += static_cast<std::uint32_t>(start - piece->column);
        }
        copy.column = base + static_cast<std::uint32_t>(start - begin);
        copy.from.trail = trail.value_or(copy.from.trail);
        target.pieces.push_back(copy);
    }
}

TextStack::TextStack(std::vector<SourceLine> source, Diagnostics& diagnostics)
    : diagnostics_(diagnostics) {
    frames_.emplace_back();
    frames_.back().lines = std::move(source);
}

/// False, and the source is at its end, when there is too much text.
bool TextStack::charge(std::size_t bytes) {
    if (bytes <= bytes_left()) {
        expanded_bytes_ += bytes;
        return true;
    }
    diagnostics_.add(frames_.back().call,
                     "expansion: got more than 32 MiB of text from macros and repetitions");
    frames_.clear();
    return false;
}

bool TextStack::next(Statement& statement) {
    while (!frames_.empty()) {
        Frame& frame = frames_.back();
        if (frame.line >= frame.lines.size()) {
            if (frame.repeats_left == 0) {
                frames_.pop_back();
                continue;
            }
            --frame.repeats_left;
            frame.line = 0;
            frame.column = 0;
            if (!charge(1)) {
                return false;
            }
            continue;
        }
        const SourceLine& line = frame.lines[frame.line];
        if (frames_.size() > 1 && frame.column == 0 && !charge(cost_bytes(line))) {
            return false;
        }
        if (scan(line, frame.column, statement)) {
            frame.column = statement.next;
            return true;
        }
        ++frame.line;
        frame.column = 0;
    }
    return false;
}

void TextStack::enter(std::vector<SourceLine> lines, std::size_t times, std::size_t conditions,
                      const Origin& call) {
    if (times == 0) {
        return;
    }
    if (frames_.size() > kMaxDepth) {
        diagnostics_.add(call, "expansion: got macros and repetitions nested more than " +
                                   std::to_string(kMaxDepth) + " deep");
        // The other calls of a macro that calls itself twice would do the same.
        frames_.clear();
        return;
    }
    constexpr std::size_t kCostOfCall = 64;
    if (!charge(kCostOfCall)) {
        return;
    }
    frames_.emplace_back();
    Frame& frame = frames_.back();
    frame.lines = std::move(lines);
    frame.repeats_left = times - 1;
    frame.conditions = conditions;
    frame.call = call;
}

std::optional<std::size_t> TextStack::leave() {
    if (frames_.size() <= 1) {
        return std::nullopt;
    }
    const std::size_t conditions = frames_.back().conditions;
    frames_.pop_back();
    return conditions;
}

std::optional<std::vector<SourceLine>>
TextStack::take_block(std::span<const std::string_view> openers,
                      std::span<const std::string_view> closers) {
    std::vector<SourceLine> block;
    Frame& frame = frames_.back();
    unsigned depth = 1;
    for (; frame.line < frame.lines.size(); ++frame.line, frame.column = 0) {
        const SourceLine& line = frame.lines[frame.line];
        const std::uint32_t start = frame.column;
        Statement statement;
        while (scan(line, frame.column, statement)) {
            frame.column = statement.next;
            const std::string_view name = leading_name(statement.text());
            if (is_one_of(name, openers)) {
                ++depth;
            } else if (is_one_of(name, closers) && --depth == 0) {
                append_slice(block.emplace_back(), line, start, statement.begin);
                return block;
            }
        }
        append_slice(block.emplace_back(), line, start, line.text.size());
    }
    return std::nullopt;
}

} // namespace tessera::isa::assembly
