// SPDX-License-Identifier: MIT
// Measured figures: rows of CSV files with the columns id, machine, workload, metric, value and
// unit, and others that say what was measured (tiles, msg_bytes, operands_per_tile, dtype, ...).
#pragma once

#include "base/error.h"
#include "sim/calibrate/csv.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::calibrate {

class ReferenceRow {
public:
    /// `cells` are those of the file's columns.
    ReferenceRow(std::string file, std::map<std::string, CsvCell> cells)
        : file_(std::move(file)), cells_(std::move(cells)) {}

    [[nodiscard]] const std::string& id() const { return cells_.at("id").text; }
    /// What stands in a column; empty where there is no such column.
    [[nodiscard]] std::string text(const std::string& column) const;
    /// True if all of `words` stand in the column, capitals apart.
    [[nodiscard]] bool says(const std::string& column, const std::vector<std::string>& words) const;
    /// A number; nothing where the cell is empty. @throws ConfigError for anything else
    [[nodiscard]] std::optional<double> number(const std::string& column) const;
    /// A whole number of at least 1; nothing where the cell is empty. @throws ConfigError
    [[nodiscard]] std::optional<std::int64_t> count(const std::string& column) const;
    /// The measured figure. @throws ConfigError if it is no number above zero that is of this world
    [[nodiscard]] double value() const;
    /// A mistake at a cell.
    [[nodiscard]] ConfigError error(const std::string& column, std::string message,
                                    std::string hint = {}) const;
    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] int line() const { return cells_.at("id").line; }

private:
    std::string file_;
    std::map<std::string, CsvCell> cells_;
};

/// A file that holds no such rows, and why.
struct OtherFile {
    std::string file;
    std::string reason;
    std::size_t rows = 0;
};

struct Reference {
    std::vector<ReferenceRow> rows; ///< by file name, then as they stand there
    std::vector<OtherFile> other_files;
};

/// The rows of one table. @throws ConfigError with all ids that are empty or there twice
void add_rows(Reference& reference, const CsvTable& table);

/// All `*.csv` of a folder. @throws IoError if it has none or cannot be read; ConfigError with the
/// mistakes of all files, or where none of them holds a row
[[nodiscard]] Reference read_reference(const std::filesystem::path& directory);

} // namespace tessera::calibrate
