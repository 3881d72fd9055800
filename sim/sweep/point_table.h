// SPDX-License-Identifier: MIT
// A store's points as columns: only what was asked for, so that a million points are some hundred
// megabytes at most.
#pragma once

#include "sim/sweep/store.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tessera::sweep {

class PointTable {
public:
    /// A number, a word, or nothing.
    struct Cell {
        enum class Kind : std::uint8_t { Nothing, Number, Word };
        double number = 0;
        std::uint32_t word = 0;
        Kind kind = Kind::Nothing;

        [[nodiscard]] bool is_number() const { return kind == Kind::Number; }
        friend bool operator==(const Cell&, const Cell&) = default;
    };

    /// The points of a store, each once: the last line counts, but for one that is ok. Columns are
    /// machine, workload, mode and status, all paths that some point changes, then `paths`: of
    /// results, of `host.`, or `key` and `message`. @throws IoError as KnownPoints
    PointTable(const std::filesystem::path& folder, const std::vector<std::string>& paths);

    [[nodiscard]] std::size_t rows() const { return rows_; }
    [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }
    /// Paths that points change.
    [[nodiscard]] const std::vector<std::string>& changed() const { return changed_; }
    [[nodiscard]] std::optional<std::size_t> column(std::string_view path) const;
    [[nodiscard]] const Cell& at(std::size_t row, std::size_t column) const {
        return columns_[column][row];
    }
    /// Empty for nothing; numbers in as few digits as give the same number again.
    [[nodiscard]] std::string text(const Cell& cell) const;
    [[nodiscard]] const PointKey& key(std::size_t row) const { return keys_[row]; }
    [[nodiscard]] bool is_ok(std::size_t row) const { return at(row, kStatus).word == ok_; }
    /// Below, at or above 0 as one row's cell comes before another's: numbers, words, nothing.
    [[nodiscard]] int compare(std::size_t one, std::size_t other, std::size_t column) const;
    /// What a point leaves as it is; a column that is there.
    void set(std::size_t row, const std::string& path, const nlohmann::json& value);
    /// The number of a word; the words of a table are numbered from 0 as they come.
    [[nodiscard]] std::uint32_t word(const std::string& text);

    static constexpr std::size_t kMachine = 0;
    static constexpr std::size_t kWorkload = 1;
    static constexpr std::size_t kMode = 2;
    static constexpr std::size_t kStatus = 3;

private:
    void set(std::size_t row, std::size_t column, const Value& value);
    std::size_t changed_column(const std::string& path);

    std::vector<std::string> paths_;
    std::vector<std::string> changed_;
    std::vector<std::vector<Cell>> columns_;
    std::vector<PointKey> keys_;
    std::map<std::string, std::size_t, std::less<>> by_path_;
    std::vector<std::string> words_;
    std::unordered_map<std::string, std::uint32_t> word_numbers_;
    std::size_t rows_ = 0;
    std::uint32_t ok_ = 0;
};

/// "a.json" and "configs/machines/a.json" as "a".
[[nodiscard]] std::string short_name(const std::string& name_or_path);

using Cell = PointTable::Cell;

} // namespace tessera::sweep
