// SPDX-License-Identifier: MIT
#include "sim/calibrate/csv.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace tessera::sim::calibrate {
namespace {

/// Reads cells one after another and knows where it is.
class CsvReader {
public:
    CsvReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

    [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
    [[nodiscard]] char ahead() const { return at_end() ? '\0' : text_[at_]; }

    void skip_line() {
        while (!at_end() && ahead() != '\n') {
            next();
        }
        if (!at_end()) {
            next();
        }
    }

    std::vector<CsvCell> row() {
        std::vector<CsvCell> cells{cell()};
        while (ahead() == ',' && !at_end()) {
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
    char next() {
        const char c = text_[at_++];
        column_ = c == '\n' ? 1 : column_ + 1;
        line_ += c == '\n' ? 1 : 0;
        return c;
    }

    [[nodiscard]] bool ends_cell() const {
        return at_end() || ahead() == ',' || ahead() == '\n' ||
               (ahead() == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] == '\n'));
    }

    void end_of_line() {
        if (!at_end() && ahead() == '\r') {
            next();
        }
        if (!at_end()) {
            next();
        }
    }

    CsvCell cell() {
        CsvCell cell{.text = {}, .line = line_, .column = column_};
        if (ahead() == '"' && !at_end()) {
            quoted(cell);
            return cell;
        }
        while (!ends_cell()) {
            if (ahead() == '"') {
                refuse(line_, column_, "got a quote inside a cell",
                       "quote the whole cell, and double the quotes in it");
            }
            cell.text += next();
        }
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
            } else if (ahead() == '"' && !at_end()) {
                cell.text += next();
            } else {
                break;
            }
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

std::vector<std::string> heading_of(CsvReader& reader) {
    std::vector<std::string> names;
    for (const CsvCell& cell : reader.row()) {
        if (cell.text.empty()) {
            reader.refuse(cell.line, cell.column, "got a column without a name");
        }
        if (std::find(names.begin(), names.end(), cell.text) != names.end()) {
            reader.refuse(cell.line, cell.column, fmt::format("got column '{}' twice", cell.text));
        }
        names.push_back(cell.text);
    }
    return names;
}

} // namespace

CsvTable parse_csv(std::string_view text, const std::string& file) {
    CsvReader reader(text, file);
    while (reader.ahead() == '#') {
        reader.skip_line();
    }
    if (reader.at_end()) {
        reader.refuse(1, 1, "got an empty file, expected a heading");
    }
    CsvTable table{.file = file, .heading = heading_of(reader), .rows = {}};
    while (!reader.at_end()) {
        std::vector<CsvCell> row = reader.row();
        if (row.size() == 1 && row.front().text.empty()) {
            continue;
        }
        if (row.size() != table.heading.size()) {
            const CsvCell& at = row[std::min(row.size() - 1, table.heading.size())];
            reader.refuse(
                at.line, at.column,
                fmt::format("got {} cells, expected {}", row.size(), table.heading.size()));
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

CsvTable read_csv(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in || text.fail()) {
        throw IoError(fmt::format("{}: cannot be read", file.string()));
    }
    return parse_csv(text.str(), file.string());
}

std::string csv_cell(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos && text.rfind('#', 0) != 0) {
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

} // namespace tessera::sim::calibrate
