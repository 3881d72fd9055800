// SPDX-License-Identifier: MIT
// Stores brought together: each point once.
#pragma once

#include "sim/sweep/store.h"
#include "traces/output_file.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace tessera::sweep {

/// The line that counts of each name and content of several stores.
class Merged {
public:
    /// Reads them once. @throws IoError as KnownPoints
    explicit Merged(std::vector<std::filesystem::path> stores);

    /// Names with their contents: rows of tables.
    [[nodiscard]] std::size_t points() const { return points_; }
    [[nodiscard]] const Damage& damage() const { return damage_; }
    [[nodiscard]] std::size_t lines() const { return counts_.size(); }
    /// Paths that points change, and of their results, each sorted.
    [[nodiscard]] const std::vector<std::string>& changed() const { return changed_; }
    [[nodiscard]] const std::vector<std::string>& results() const { return results_; }

    /// Reads them again: the lines that count, in the order of stores and files.
    void for_each(const std::function<void(const PointLine& point)>& visit) const;

private:
    std::vector<std::filesystem::path> stores_;
    std::vector<bool> counts_; ///< by line
    std::size_t points_ = 0;
    Damage damage_;
    std::vector<std::string> changed_;
    std::vector<std::string> results_;
};

/// Columns of tables: `key`, `status`, ..., changed paths, paths of results.
[[nodiscard]] std::vector<std::string> columns_of(const Merged& merged);
/// The values of a point in those columns.
void for_each_column(const PointLine& point,
                     const std::function<void(const std::string& column, Value value)>& visit);

/// A table `points`, a row a name and content, `line` its primary key; rows that the file has already
/// are replaced, others stay. All or nothing: a new file appears when it is whole, and
/// one that is there is changed by one transaction. @throws IoError, also where the table is one of
/// older versions
void write_sqlite(const Merged& merged, const std::string& file);

/// The same as CSV (RFC 4180) with a head. @throws IoError
void write_csv(const Merged& merged, traces::OutputFile& output);

/// Adds what a store does not have yet; how many that were. @throws IoError
std::size_t merge_into(const Merged& merged, const std::filesystem::path& store);

} // namespace tessera::sweep
