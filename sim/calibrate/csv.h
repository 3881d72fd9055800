// SPDX-License-Identifier: MIT
// Comma-separated text as RFC 4180 has it: quoted cells, doubled quotes in them, LF or CRLF. Lines
// that start with '#' are comments, empty lines say nothing, spaces round a cell without quotes are
// no part of it; a byte order mark may stand before everything. Commas behind the last column of the
// heading, with nothing behind them, are no columns.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::calibrate {

/// Lines and columns count from 1, columns in bytes.
struct CsvCell {
    std::string text;
    int line = 0;
    int column = 0;
};

struct CsvTable {
    std::string file;
    std::vector<std::string> heading;
    std::vector<std::vector<CsvCell>> rows; ///< each as long as the heading
};

/// @throws ConfigError at the first error: no heading, a heading twice or without a name, a row of
/// another length, a quote that does not end or stands inside a cell, text that is not UTF-8's
/// bytes and LF or CRLF lines
[[nodiscard]] CsvTable parse_csv(std::string_view text, const std::string& file);

/// The same from a file. @throws IoError if it cannot be read
[[nodiscard]] CsvTable read_csv(const std::filesystem::path& file);

/// A cell as CSV wants it: quoted where it must be.
[[nodiscard]] std::string csv_cell(const std::string& text);

} // namespace tessera::calibrate
