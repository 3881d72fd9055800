// SPDX-License-Identifier: MIT
#include "base/layout.h"

#include "base/error.h"

#include <algorithm>

namespace tessera {
namespace {

constexpr std::size_t kGap = 2;           ///< blanks between columns of a table
constexpr std::size_t kLeastWrapped = 24; ///< what a wrapped column has in any case

const char* code_of(Paint paint) {
    switch (paint) {
    case Paint::Head:
        return "\033[1m";
    case Paint::Good:
        return "\033[32m";
    case Paint::Bad:
        return "\033[1;31m";
    case Paint::Warning:
        return "\033[33m";
    case Paint::Quiet:
        break;
    }
    return "\033[2m";
}

std::string trimmed(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

/// Where the first word ends; "15.0 %" is one.
std::size_t word_end(std::string_view text) {
    std::size_t end = std::min(text.find(' '), text.size());
    if (text.substr(end).starts_with(" %")) {
        end = std::min(text.find(' ', end + 1), text.size());
    }
    return end;
}

/// Lines of words, none longer than `columns` unless a word is.
std::vector<std::string> lines_of(std::string_view text, std::size_t columns) {
    std::vector<std::string> lines{{}};
    while (!text.empty()) {
        const std::size_t end = word_end(text);
        const std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (word.empty()) {
            continue;
        }
        if (lines.back().empty()) {
            lines.back() = word;
        } else if (width_of(lines.back()) + 1 + width_of(word) <= columns) {
            lines.back() += ' ';
            lines.back() += word;
        } else {
            lines.emplace_back(word);
        }
    }
    return lines;
}

std::string padded(const std::string& cell, std::size_t width, Align align) {
    const std::string blanks(width - width_of(cell), ' ');
    return align == Align::Left ? cell + blanks : blanks + cell;
}

std::size_t room(const Layout& layout, std::size_t indent) {
    return std::max(layout.columns, indent + kLeastWrapped) - indent;
}

} // namespace

std::string painted(const Layout& layout, Paint paint, std::string_view text) {
    return layout.color && !text.empty() ? code_of(paint) + std::string(text) + "\033[0m"
                                         : std::string(text);
}

std::size_t width_of(std::string_view text) {
    std::size_t width = 0;
    bool in_code = false;
    for (const char byte : text) {
        if (in_code || byte == '\033') {
            in_code = byte != 'm';
        } else if ((static_cast<unsigned char>(byte) & 0xc0U) != 0x80U) {
            ++width;
        }
    }
    return width;
}

std::string wrapped(const Layout& layout, std::size_t indent, std::string_view text) {
    std::string out;
    for (const auto& line : lines_of(text, room(layout, indent))) {
        out += trimmed(std::string(indent, ' ') + line) + "\n";
    }
    return out;
}

std::string paragraph(const Layout& layout, std::string_view head, std::size_t indent,
                      std::string_view text) {
    const std::string lines = wrapped(layout, indent, text);
    const std::size_t width = width_of(head);
    if (width >= indent) {
        return std::string(head) + "\n" + lines;
    }
    const bool empty = lines == "\n";
    return std::string(head) +
           (empty ? lines : std::string(indent - width, ' ') + lines.substr(indent));
}

std::string table(const Layout& layout, std::size_t indent, const std::vector<Align>& columns,
                  const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths(columns.size());
    for (const auto& row : rows) {
        TESSERA_ASSERT(row.size() == columns.size());
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], width_of(row[i]));
        }
    }
    std::size_t last_at = indent;
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
        last_at += widths[i] + kGap;
    }
    std::string out;
    for (const auto& row : rows) {
        std::string line(indent, ' ');
        for (std::size_t i = 0; i + 1 < row.size(); ++i) {
            line += padded(row[i], widths[i], columns[i]) + std::string(kGap, ' ');
        }
        if (columns.back() == Align::Right) {
            out += line + padded(row.back(), widths.back(), Align::Right) + "\n";
            continue;
        }
        for (const auto& part : lines_of(row.back(), room(layout, last_at))) {
            out += trimmed(line + part) + "\n";
            line = std::string(last_at, ' ');
        }
    }
    return out;
}

} // namespace tessera
