// SPDX-License-Identifier: MIT
#include "sim/sweep/point_table.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

namespace tessera::sweep {
namespace {

constexpr const char* kFirst[] = {"machine", "workload", "mode", "status"};

/// Where a line has what a path of a table means.
std::vector<std::string> keys_to(const std::string& path) {
    if (path == "key" || path == "message" || path == "model" || path == "note") {
        return {path};
    }
    std::vector<std::string> keys;
    if (!path.starts_with("host.")) {
        keys.emplace_back("result");
    }
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t dot = std::min(path.find('.', begin), path.size());
        keys.push_back(path.substr(begin, dot - begin));
        begin = dot + 1;
    }
    return keys;
}

} // namespace

PointTable::PointTable(const std::filesystem::path& folder, const std::vector<std::string>& paths) {
    static_cast<void>(word(""));
    ok_ = word(kOkStatus);
    for (const char* first : kFirst) {
        by_path_[first] = paths_.size();
        paths_.emplace_back(first);
        columns_.emplace_back();
    }
    std::vector<std::pair<std::size_t, std::vector<std::string>>> wanted;
    for (const std::string& path : paths) {
        if (!by_path_.contains(path)) {
            by_path_[path] = paths_.size();
            wanted.emplace_back(paths_.size(), keys_to(path));
            paths_.push_back(path);
            columns_.emplace_back();
        }
    }
    read(folder, wanted);
    leave_out_older_lines();
    label_columns();
    std::sort(changed_.begin(), changed_.end());
}

void PointTable::read(const std::filesystem::path& folder,
                      const std::vector<std::pair<std::size_t, std::vector<std::string>>>& wanted) {
    KnownPoints known;
    std::unordered_map<LineId, std::size_t, LineId::Hash> row_of;
    damage_ = for_each_point(folder, [&](const PointLine& point) {
        if (!known.add(point)) {
            return;
        }
        const auto [found, is_new] = row_of.try_emplace(point.id(), rows_);
        const std::size_t row = found->second;
        if (is_new) {
            ++rows_;
            ids_.push_back(found->first);
            for (auto& column : columns_) {
                column.emplace_back();
            }
        }
        for (std::size_t i = 0; i < std::size(kFirst); ++i) {
            columns_[i][row] = cell_of(point.at({kFirst[i]}));
        }
        point.for_each_value("changes", [&](const std::string& path, const Value& value) {
            columns_[changed_column(path)][row] = cell_of(value);
        });
        for (const auto& [column, keys] : wanted) {
            if (const Value value = point.at(keys)) {
                columns_[column][row] = cell_of(value);
            }
        }
        point.for_each_value("contents", [&](const std::string& path, const Value& digest) {
            auto& column = contents_[path];
            column.resize(rows_);
            column[row] = word(value_text(digest));
        });
    });
    for (auto& [path, column] : contents_) {
        column.resize(rows_);
    }
}

std::uint32_t PointTable::content_word(std::size_t row, const std::string& path) const {
    const auto found = contents_.find(path);
    return found == contents_.end() ? 0 : found->second[row];
}

const Called& PointTable::called(std::size_t row, std::size_t column) const {
    static const Called nothing;
    const auto found = called_.find({column, at(row, column).word});
    return found == called_.end() ? nothing : found->second;
}

std::uint32_t PointTable::word_among(const std::vector<std::string>& names,
                                     const Cell& cell) const {
    const auto found = short_words_.find(cell.word);
    return found != short_words_.end() &&
                   std::find(names.begin(), names.end(), words_[found->second]) != names.end()
               ? found->second
               : cell.word;
}

void PointTable::leave_out_older_lines() {
    std::unordered_set<PointKey, PointKey::Hash> older;
    for (std::size_t row = 0; row < rows_; ++row) {
        if (!has_contents(row)) {
            older.insert(key(row));
        }
    }
    std::unordered_set<PointKey, PointKey::Hash> said_again;
    for (std::size_t row = 0; row < rows_ && !older.empty(); ++row) {
        if (has_contents(row) && older.contains(key(row))) {
            said_again.insert(key(row));
        }
    }
    if (said_again.empty()) {
        return;
    }
    std::vector<std::size_t> kept;
    for (std::size_t row = 0; row < rows_; ++row) {
        if (has_contents(row) || !said_again.contains(key(row))) {
            kept.push_back(row);
        }
    }
    const auto keep = [&](auto& column) {
        for (std::size_t i = 0; i < kept.size(); ++i) {
            column[i] = column[kept[i]];
        }
        column.resize(kept.size());
    };
    keep(ids_);
    for (auto& column : columns_) {
        keep(column);
    }
    for (auto& [path, column] : contents_) {
        keep(column);
    }
    rows_ = kept.size();
}

void PointTable::label_columns() {
    std::vector<std::string> named{kMachinePath, kWorkloadPath};
    for (const auto& [path, column] : contents_) {
        if (by_path_.contains(path) && path != kMachinePath && path != kWorkloadPath) {
            named.push_back(path);
        }
    }
    for (const std::string& path : named) {
        std::vector<Cell>& column = columns_[by_path_.at(path)];
        // words of name and digest, and the label's
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> labels;
        for (std::size_t row = 0; row < rows_; ++row) {
            if (column[row].kind == Cell::Kind::Word) {
                labels.try_emplace({column[row].word, content_word(row, path)});
            }
        }
        std::vector<Called> all;
        for (const auto& [words, label] : labels) {
            all.push_back({words_[words.first], words_[words.second]});
        }
        const bool is_config = path == kMachinePath || path == kWorkloadPath;
        const auto texts = is_config ? config_labels(all) : file_labels(all);
        for (std::size_t i = 0; auto& [words, label] : labels) {
            label = word(texts[i]);
            const std::uint32_t short_word = word(short_name(all[i].written));
            if (is_config && label != short_word) {
                short_words_[label] = short_word;
            }
            called_[{by_path_.at(path), label}] = all[i++];
        }
        for (std::size_t row = 0; row < rows_; ++row) {
            if (column[row].kind == Cell::Kind::Word) {
                column[row].word = labels.at({column[row].word, content_word(row, path)});
            }
        }
    }
}

std::size_t PointTable::changed_column(const std::string& path) {
    const auto known = by_path_.find(path);
    if (known != by_path_.end()) {
        if (std::find(changed_.begin(), changed_.end(), path) == changed_.end()) {
            changed_.push_back(path); // asked for too
        }
        return known->second;
    }
    by_path_[path] = paths_.size();
    paths_.push_back(path);
    changed_.push_back(path);
    columns_.emplace_back(rows_);
    return paths_.size() - 1;
}

std::optional<std::size_t> PointTable::column(std::string_view path) const {
    const auto found = by_path_.find(path);
    return found == by_path_.end() ? std::nullopt : std::optional(found->second);
}

std::uint32_t PointTable::word(const std::string& text) {
    const auto [known, is_new] =
        word_numbers_.try_emplace(text, static_cast<std::uint32_t>(words_.size()));
    if (is_new) {
        words_.push_back(text);
    }
    return known->second;
}

Cell PointTable::cell_of(const Value& value) {
    Cell cell;
    if (value && std::holds_alternative<double>(*value)) {
        cell.number = std::get<double>(*value);
        cell.kind = Cell::Kind::Number;
    } else if (value) {
        cell.word = word(std::get<std::string>(*value));
        cell.kind = Cell::Kind::Word;
    }
    return cell;
}

std::string PointTable::text(const Cell& cell) const {
    constexpr double kExact = 0x1p53;
    switch (cell.kind) {
    case Cell::Kind::Number:
        return std::floor(cell.number) == cell.number && std::fabs(cell.number) < kExact
                   ? fmt::format("{}", static_cast<std::int64_t>(cell.number))
                   : fmt::format("{}", cell.number);
    case Cell::Kind::Word:
        return words_[cell.word];
    default:
        return "";
    }
}

std::string PointTable::key_of(std::size_t row, const std::vector<std::size_t>& columns) const {
    std::string key;
    for (const std::size_t column : columns) {
        const Cell& cell = at(row, column);
        key.append(reinterpret_cast<const char*>(&cell.number), sizeof cell.number);
        key.append(reinterpret_cast<const char*>(&cell.word), sizeof cell.word);
        key += static_cast<char>(cell.kind);
    }
    return key;
}

int PointTable::compare(std::size_t one, std::size_t other, std::size_t column) const {
    const Cell& a = at(one, column);
    const Cell& b = at(other, column);
    const auto rank = [](const Cell& cell) {
        return cell.kind == Cell::Kind::Number ? 0 : cell.kind == Cell::Kind::Word ? 1 : 2;
    };
    if (rank(a) != rank(b)) {
        return rank(a) - rank(b);
    }
    return a.is_number()                ? (a.number < b.number   ? -1
                                           : a.number > b.number ? 1
                                                                 : 0)
           : a.kind == Cell::Kind::Word ? words_[a.word].compare(words_[b.word])
                                        : 0;
}

void PointTable::set(std::size_t row, const std::string& path, const nlohmann::json& value) {
    const std::size_t number = *column(path);
    const bool is_changed = std::find(changed_.begin(), changed_.end(), path) != changed_.end();
    auto& cells = is_changed ? as_they_are_[number] : columns_[number];
    cells.resize(rows_);
    cells[row] = cell_of(value_of(value));
}

Cell PointTable::value(std::size_t row, std::size_t column) const {
    const auto found = as_they_are_.find(column);
    const Cell& cell = at(row, column);
    return cell.kind == Cell::Kind::Nothing && found != as_they_are_.end() ? found->second[row]
                                                                           : cell;
}

} // namespace tessera::sweep
