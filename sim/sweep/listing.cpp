// SPDX-License-Identifier: MIT
#include "sim/sweep/listing.h"

#include "base/config/json_text.h"
#include "base/error.h"
#include "base/layout.h"
#include "base/text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace tessera::sweep {
namespace {

/// Text that goes to stdout in large pieces.
class Out {
public:
    ~Out() { flush(); }
    void add(const std::string& text) {
        text_ += text;
        constexpr std::size_t kPiece = std::size_t{1} << 16U;
        if (text_.size() > kPiece) {
            flush();
        }
    }

private:
    void flush() {
        std::fwrite(text_.data(), 1, text_.size(), stdout);
        text_.clear();
    }
    std::string text_;
};

/// Numbers for people: counts in groups of three digits.
std::string shown(const ListedCell& cell) {
    const bool whole = cell.is_number && !cell.text.empty() &&
                       cell.text.find_first_not_of("-0123456789") == std::string::npos;
    constexpr std::size_t kLong = 18;
    if (!cell.is_number || cell.text.empty() || (whole && cell.text.size() >= kLong)) {
        return cell.text;
    }
    return whole ? grouped(std::stoll(cell.text))
                 : number_text(std::strtod(cell.text.c_str(), nullptr));
}

void print_text(const Listing& listing, std::size_t rows) {
    std::vector<std::size_t> widths;
    std::vector<bool> right(listing.head.size(), true);
    for (const std::string& head : listing.head) {
        widths.push_back(width_of(head));
    }
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = 0; column < widths.size(); ++column) {
            const ListedCell cell = listing.cell(row, column);
            widths[column] = std::max(widths[column], width_of(shown(cell)));
            right[column] = right[column] && (cell.is_number || cell.text.empty());
        }
    }
    Out out;
    const auto line = [&](const auto& text_at) {
        std::string text;
        for (std::size_t column = 0; column < widths.size(); ++column) {
            const std::string cell = text_at(column);
            const std::string blanks(widths[column] - width_of(cell), ' ');
            text += (column == 0 ? "" : "  ") + (right[column] ? blanks + cell : cell + blanks);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        out.add(text + "\n");
    };
    line([&](std::size_t column) { return listing.head[column]; });
    for (std::size_t row = 0; row < rows; ++row) {
        line([&](std::size_t column) { return shown(listing.cell(row, column)); });
    }
}

void print_csv(const Listing& listing, std::size_t rows) {
    Out out;
    const auto line = [&](const auto& text_at) {
        std::string text;
        for (std::size_t column = 0; column < listing.head.size(); ++column) {
            text += (column == 0 ? "" : ",") + csv_field(text_at(column));
        }
        out.add(text + "\r\n");
    };
    line([&](std::size_t column) { return listing.head[column]; });
    for (std::size_t row = 0; row < rows; ++row) {
        line([&](std::size_t column) { return listing.cell(row, column).text; });
    }
}

void print_json(const Listing& listing, std::size_t rows) {
    Out out;
    out.add("[");
    for (std::size_t row = 0; row < rows; ++row) {
        nlohmann::json object = nlohmann::json::object();
        for (std::size_t column = 0; column < listing.head.size(); ++column) {
            const ListedCell cell = listing.cell(row, column);
            if (cell.text.empty()) {
                continue;
            }
            object[listing.head[column]] = cell.is_number
                                               ? nlohmann::json::parse(cell.text, nullptr, false)
                                               : nlohmann::json(cell.text);
        }
        out.add((row == 0 ? "\n  " : ",\n  ") + config::text_of_json(object));
    }
    out.add(rows == 0 ? "]\n" : "\n]\n");
}

} // namespace

void Listing::print(const std::string& format, std::size_t most) const {
    const std::size_t shown_rows = most == 0 ? rows : std::min(rows, most);
    if (format == "csv") {
        print_csv(*this, shown_rows);
    } else if (format == "json") {
        print_json(*this, shown_rows);
    } else {
        print_text(*this, shown_rows);
        if (shown_rows < rows) {
            std::fputs(
                fmt::format("{} more\n", grouped(static_cast<std::int64_t>(rows - shown_rows)))
                    .c_str(),
                stdout);
        }
    }
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        throw IoError("standard output cannot be written");
    }
}

std::string number_text(double number) {
    constexpr double kExact = 0x1p53;
    constexpr double kMany = 1e5; // its parts do not matter
    return std::floor(number) == number && std::fabs(number) < kExact
               ? fmt::format("{}", static_cast<std::int64_t>(number))
           : std::fabs(number) >= kMany && std::fabs(number) < kExact
               ? fmt::format("{:.0f}", number)
               : fmt::format("{:.6g}", number);
}

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
        return text;
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + "\"";
}

} // namespace tessera::sweep
