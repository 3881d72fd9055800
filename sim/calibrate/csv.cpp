// SPDX-License-Identifier: MIT
#include "sim/calibrate/csv.h"

#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"
#include "base/text_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tessera::calibrate {
namespace {

constexpr std::size_t kMostTableBytes = 4 * kMiB;
constexpr std::size_t kMostColumns = 100;
constexpr std::size_t kMostRows = 10'000;

/// Reads cells one after another and knows where it is.
class CsvReader {
public:
    CsvReader(std::string_view text, const std::string& file)
        : text_(utf8_text(text, file)), file_(file) {}

    [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
    [[nodiscard]] char ahead() const { return at_end() ? '\0' : text_[at_]; }

    /// Comments and lines without a single filled cell.
    void skip_silent_lines() {
        while (!at_end() && is_silent_line()) {
            while (!at_end() && ahead() != '\n') {
                next();
            }
            end_of_line();
        }
    }

    std::vector<CsvCell> row() {
        std::vector<CsvCell> cells{cell()};
        while (ahead() == ',') {
            next();
            cells.push_back(cell());
        }
        end_of_line();
        return cells;
    }

    [[noreturn]] void refuse(int line, int column, std::string message,
                             std::string hint = {}) const {
        throw ConfigError(Diagnostic{.file = file_,
                                     .line = line,
                                     .column = column,
                                     .pointer = {},
                                     .message = std::move(message),
                                     .hint = std::move(hint)});
    }

private:
    /// Whether the line at hand is a comment or has blanks and commas only.
    [[nodiscard]] bool is_silent_line() const {
        const auto line = text_.substr(at_, text_.find('\n', at_) - at_);
        const auto blanks = line.find_first_not_of(" \t\r");
        return (blanks != std::string_view::npos && line[blanks] == '#') ||
               line.find_first_not_of(" \t\r,") == std::string_view::npos;
    }
    char next() {
        const char c = text_[at_++];
        column_ = c == '\n' ? 1 : column_ + 1;
        line_ += c == '\n' ? 1 : 0;
        return c;
    }

    [[nodiscard]] bool at_line_end() const {
        return ahead() == '\n' ||
               (ahead() == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] == '\n'));
    }
    [[nodiscard]] bool ends_cell() const { return at_end() || ahead() == ',' || at_line_end(); }
    [[nodiscard]] bool at_space() const { return ahead() == ' ' || ahead() == '\t'; }

    void end_of_line() {
        if (ahead() == '\r') {
            next();
        }
        if (!at_end()) {
            next();
        }
    }

    CsvCell cell() {
        while (at_space()) {
            next();
        }
        CsvCell cell{.text = {}, .line = line_, .column = column_};
        if (ahead() == '"') {
            quoted(cell);
            return cell;
        }
        while (!ends_cell()) {
            if (ahead() == '"') {
                refuse(line_, column_, "got a quote inside a cell",
                       "quote the whole cell, and double the quotes in it");
            }
            if (ahead() == '\0' || ahead() == '\r') {
                refuse(
                    line_, column_,
                    fmt::format("got byte {}, expected UTF-8 text in lines that end in LF or CRLF",
                                static_cast<int>(ahead())));
            }
            cell.text += next();
        }
        cell.text.resize(cell.text.find_last_not_of(" \t") + 1);
        return cell;
    }

    void quoted(CsvCell& cell) {
        next();
        for (;;) {
            if (at_end()) {
                refuse(cell.line, cell.column, "got a quote without an end");
            }
            const char c = next();
            if (c != '"') {
                cell.text += c;
            } else if (ahead() == '"') {
                cell.text += next();
            } else {
                break;
            }
        }
        while (at_space()) {
            next();
        }
        if (!ends_cell()) {
            refuse(line_, column_,
                   fmt::format("got '{}' after a closing quote, expected a comma", ahead()));
        }
    }

    std::string_view text_;
    const std::string& file_;
    std::size_t at_ = 0;
    int line_ = 1;
    int column_ = 1;
};

/// Takes off empty cells at the end: spreadsheets write commas behind the last filled column.
void drop_empty_behind(std::vector<CsvCell>& cells, std::size_t least) {
    while (cells.size() > least && cells.back().text.empty()) {
        cells.pop_back();
    }
}

std::vector<std::string> heading_of(CsvReader& reader) {
    std::vector<std::string> names;
    std::vector<CsvCell> cells = reader.row();
    drop_empty_behind(cells, 1);
    const CsvCell& first = cells.front();
    if (cells.size() == 1 && first.text.find_first_of(";\t") != std::string::npos) {
        reader.refuse(first.line, first.column, "got names without a comma between them",
                      "separate cells by commas");
    }
    if (cells.size() > kMostColumns) {
        const CsvCell& at = cells[kMostColumns];
        reader.refuse(
            at.line, at.column,
            fmt::format("got {} columns, expected at most {}", cells.size(), kMostColumns));
    }
    for (const CsvCell& cell : cells) {
        if (cell.text.empty()) {
            reader.refuse(cell.line, cell.column, "got a column without a name");
        }
        if (std::find(names.begin(), names.end(), cell.text) != names.end()) {
            reader.refuse(cell.line, cell.column,
                          fmt::format("got column {} twice", in_quotes(cell.text)));
        }
        names.push_back(cell.text);
    }
    return names;
}

} // namespace

CsvTable parse_csv(std::string_view text, const std::string& file) {
    CsvReader reader(text, file);
    reader.skip_silent_lines();
    if (reader.at_end()) {
        reader.refuse(1, 1, "got an empty file, expected a heading");
    }
    CsvTable table{.file = file, .heading = heading_of(reader), .rows = {}};
    for (reader.skip_silent_lines(); !reader.at_end(); reader.skip_silent_lines()) {
        std::vector<CsvCell> row = reader.row();
        drop_empty_behind(row, table.heading.size());
        if (row.size() != table.heading.size()) {
            const CsvCell& at = row[std::min(row.size() - 1, table.heading.size())];
            reader.refuse(at.line, at.column,
                          fmt::format("got {} cell{}, expected {}, as many as the heading names",
                                      row.size(), row.size() == 1 ? "" : "s",
                                      table.heading.size()));
        }
        if (table.rows.size() == kMostRows) {
            reader.refuse(row.front().line, 1,
                          fmt::format("got more rows than {}, the most of a table", kMostRows));
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

CsvTable read_csv(const std::filesystem::path& file) {
    return parse_csv(read_file(file, kMostTableBytes, "a table"), file.string());
}

std::string csv_cell(const std::string& text) {
    const bool bare = text.find_first_of(",\"\r\n") == std::string::npos;
    const bool outer_space =
        !text.empty() && (std::isspace(static_cast<unsigned char>(text.front())) != 0 ||
                          std::isspace(static_cast<unsigned char>(text.back())) != 0);
    if (bare && !outer_space && !text.starts_with('#')) {
        return text;
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c;
        if (c == '"') {
            quoted += c;
        }
    }
    return quoted + '"';
}

} // namespace tessera::calibrate
