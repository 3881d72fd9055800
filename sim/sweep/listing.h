// SPDX-License-Identifier: MIT
// A table of any length for people (aligned columns), as CSV or as JSON, made cell by cell.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace tessera::sweep {

struct ListedCell {
    std::string text;
    bool is_number = false;
};

struct Listing {
    std::vector<std::string> head;
    std::size_t rows = 0;
    std::function<ListedCell(std::size_t row, std::size_t column)> cell;

    /// To stdout. `format`: text, csv or json; `most` rows, 0: all. @throws IoError
    void print(const std::string& format, std::size_t most) const;
};

/// As few digits as give the same number again; whole numbers without a point.
[[nodiscard]] std::string number_text(double number);

/// A field of a CSV line (RFC 4180).
[[nodiscard]] std::string csv_field(const std::string& text);

} // namespace tessera::sweep
