// SPDX-License-Identifier: MIT
// A store's lines as columns: only what was asked for, so that a million points are some hundred
// megabytes at most.
#pragma once

#include "sim/sweep/labels.h"
#include "sim/sweep/line_name.h"
#include "sim/sweep/places.h"
#include "sim/sweep/store.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
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

    /// The lines of a store, a row for each name and content: what was said last counts, but for one
    /// that is ok. Columns are machine, workload, mode and status, all paths that some point changes,
    /// then `paths`: of results, of `host.`, or `key`, `message` and `note`. Machines, workloads and files in
    /// settings have labels (labels.h), so that different ones are different words. Of a point that
    /// has lines with contents, lines of older versions without them are left out.
    /// @throws IoError as KnownPoints
    PointTable(const std::filesystem::path& folder, const std::vector<std::string>& paths);

    [[nodiscard]] std::size_t rows() const { return rows_; }
    [[nodiscard]] const Damage& damage() const { return damage_; }
    [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }
    /// Paths that points change.
    [[nodiscard]] const std::vector<std::string>& changed() const { return changed_; }
    [[nodiscard]] std::optional<std::size_t> column(std::string_view path) const;
    [[nodiscard]] const Cell& at(std::size_t row, std::size_t column) const {
        return columns_[column][row];
    }
    /// Empty for nothing; numbers in as few digits as give the same number again.
    [[nodiscard]] std::string text(const Cell& cell) const;
    [[nodiscard]] const PointKey& key(std::size_t row) const { return ids_[row].point; }
    [[nodiscard]] LineName name(std::size_t row) const { return ids_[row].name; }
    /// The digest of what a name of a line led to, by the path of its column; empty where the line
    /// does not say.
    [[nodiscard]] const std::string& content(std::size_t row, const std::string& path) const {
        return words_[content_word(row, path)];
    }
    /// False for lines of older versions, which do not say what their names led to.
    [[nodiscard]] bool has_contents(std::size_t row) const {
        return content_word(row, kMachinePath) != 0;
    }
    [[nodiscard]] bool is_ok(std::size_t row) const { return at(row, kStatus).word == ok_; }
    /// The cells of some columns as a key of a map.
    [[nodiscard]] std::string key_of(std::size_t row,
                                     const std::vector<std::size_t>& columns) const;
    /// Whether no line says what its names led to.
    [[nodiscard]] bool is_older() const { return !contents_.contains(kMachinePath); }
    /// Below, at or above 0 as one row's cell comes before another's: numbers, words, nothing.
    [[nodiscard]] int compare(std::size_t one, std::size_t other, std::size_t column) const;
    /// What a parameter is where a point leaves it as it is: in its column, which is there, or, where
    /// that says what points change, beside it.
    void set(std::size_t row, const std::string& path, const nlohmann::json& value);
    /// What a parameter or result is, whether the point changes it or not.
    [[nodiscard]] Cell value(std::size_t row, std::size_t column) const;
    /// The word of a cell; of a machine or workload that has a longer label, its short name if that is
    /// one of `names`, which then means all that are called so.
    [[nodiscard]] std::uint32_t word_among(const std::vector<std::string>& names,
                                           const Cell& cell) const;
    /// What the word of a machine or workload stands for.
    [[nodiscard]] const Called& called(std::size_t row, std::size_t column) const;
    /// The number of a word; the words of a table are numbered from 0 as they come.
    [[nodiscard]] std::uint32_t word(const std::string& text);

    static constexpr std::size_t kMachine = 0;
    static constexpr std::size_t kWorkload = 1;
    static constexpr std::size_t kMode = 2;
    static constexpr std::size_t kStatus = 3;

private:
    void read(const std::filesystem::path& folder,
              const std::vector<std::pair<std::size_t, std::vector<std::string>>>& wanted);
    [[nodiscard]] Cell cell_of(const Value& value);
    std::size_t changed_column(const std::string& path);
    /// 0 for none.
    [[nodiscard]] std::uint32_t content_word(std::size_t row, const std::string& path) const;
    void leave_out_older_lines();
    void label_columns();

    std::vector<std::string> paths_;
    std::vector<std::string> changed_;
    std::vector<std::vector<Cell>> columns_;
    std::map<std::size_t, std::vector<Cell>> as_they_are_; ///< beside columns of what is changed
    std::vector<LineId> ids_;
    std::map<std::string, std::vector<std::uint32_t>, std::less<>>
        contents_; ///< words of digests, by path and row
    std::map<std::string, std::size_t, std::less<>> by_path_;
    std::map<std::pair<std::size_t, std::uint32_t>, Called> called_; ///< by column and label
    std::map<std::uint32_t, std::uint32_t> short_words_; ///< by label, where that is longer
    std::vector<std::string> words_;
    std::unordered_map<std::string, std::uint32_t> word_numbers_;
    std::size_t rows_ = 0;
    Damage damage_;
    std::uint32_t ok_ = 0;
};

using Cell = PointTable::Cell;

} // namespace tessera::sweep
