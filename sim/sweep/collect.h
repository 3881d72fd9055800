// SPDX-License-Identifier: MIT
// Combines several stores of sweep results: each line is kept once.
#pragma once

#include "sim/sweep/store.h"
#include "traces/output_file.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

namespace tessera::sweep {

/// The lines of several stores without duplicates. Two lines are duplicates if they have the same
/// name and the same content (line_name.h). Of duplicates, one is kept: the last failure, or, if
/// there is a success, the first success. A later success replaces it if it has `lists` or
/// `contents` that the kept one lacks.
class Merged {
public:
    /// Reads the stores once. @throws IoError in the same cases as KnownPoints
    explicit Merged(std::vector<std::filesystem::path> stores);

    /// Returns the number of kept lines, which is the number of rows in tables.
    [[nodiscard]] std::size_t points() const { return kept_.size(); }
    [[nodiscard]] const Damage& damage() const { return damage_; }
    /// Returns the number of lines that were read.
    [[nodiscard]] std::size_t lines() const { return lines_; }
    /// Return the paths of changed settings, and the paths of values in results. Both are sorted.
    [[nodiscard]] const std::vector<std::string>& changed() const { return changed_; }
    [[nodiscard]] const std::vector<std::string>& results() const { return results_; }

    /// Reads the stores again and visits the kept lines, in the order of stores and files. Lines
    /// that were written since are left out.
    void for_each(const std::function<void(const PointLine& point)>& visit) const;

private:
    std::vector<std::filesystem::path> stores_;
    std::size_t lines_ = 0;
    std::unordered_set<std::size_t> kept_; ///< hashes of the texts of kept lines
    Damage damage_;
    std::vector<std::string> changed_;
    std::vector<std::string> results_;
};

/// Returns the columns of tables: `key`, `status`, ..., changed paths, paths of results.
[[nodiscard]] std::vector<std::string> columns_of(const Merged& merged);
/// Visits the columns in which a point has an entry, with its values.
void for_each_column(const PointLine& point,
                     const std::function<void(const std::string& column, Value value)>& visit);

/// Writes the table `points` to an SQLite file: one row for each kept line, with the primary key
/// `line`. A row with the same `line` is replaced; the file's other rows stay. A new file appears
/// only when it is complete. An existing file is changed by one transaction.
/// @throws IoError, also if the table was written by an older version
void write_sqlite(const Merged& merged, const std::string& file);

/// Writes the same table as CSV (RFC 4180), with a header line. @throws IoError
void write_csv(const Merged& merged, traces::OutputFile& output);

/// Adds kept lines to a store and returns how many it added. A failure is added if the store has no
/// line of its name and content. A success is added if it is new, or would replace the store's line
/// by the rule of Merged. @throws IoError
std::size_t merge_into(const Merged& merged, const std::filesystem::path& store);

} // namespace tessera::sweep
