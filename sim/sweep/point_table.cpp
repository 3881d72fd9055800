// SPDX-License-Identifier: MIT
#include "sim/sweep/point_table.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::sweep {
namespace {

constexpr const char* kFirst[] = {"machine", "workload", "mode", "status"};

/// Where a line has what a path of a table means.
std::vector<std::string> keys_to(const std::string& path) {
    if (path == "key" || path == "message" || path == "model") {
        return {path};
    }
    std::vector<std::string> keys;
    if (path.rfind("host.", 0) != 0) {
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

std::string short_name(const std::string& name_or_path) {
    return std::filesystem::path(name_or_path).stem().string();
}

PointTable::PointTable(const std::filesystem::path& folder, const std::vector<std::string>& paths) {
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
    KnownPoints known;
    std::unordered_map<PointKey, std::size_t, PointKey::Hash> row_of;
    for_each_point(folder, [&](const PointLine& point) {
        if (!known.add(point)) {
            return;
        }
        const auto [found, is_new] = row_of.try_emplace(point.key(), rows_);
        const std::size_t row = found->second;
        if (is_new) {
            ++rows_;
            keys_.push_back(point.key());
            for (auto& column : columns_) {
                column.emplace_back();
            }
        }
        for (std::size_t i = 0; i < std::size(kFirst); ++i) {
            Value value = point.at({kFirst[i]});
            if (value && std::holds_alternative<std::string>(*value) && i <= kWorkload) {
                value = short_name(std::get<std::string>(*value));
            }
            set(row, i, value);
        }
        point.for_each_value("changes", [&](const std::string& path, const Value& value) {
            set(row, changed_column(path), value);
        });
        for (const auto& [column, keys] : wanted) {
            if (Value value = point.at(keys)) {
                set(row, column, value);
            }
        }
    });
    std::sort(changed_.begin(), changed_.end());
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

void PointTable::set(std::size_t row, std::size_t column, const Value& value) {
    Cell cell;
    if (value && std::holds_alternative<double>(*value)) {
        cell.number = std::get<double>(*value);
        cell.kind = Cell::Kind::Number;
    } else if (value) {
        cell.word = word(std::get<std::string>(*value));
        cell.kind = Cell::Kind::Word;
    }
    columns_[column][row] = cell;
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
    if (value.is_number()) {
        set(row, *column(path), Value(value.get<double>()));
    } else if (value.is_boolean()) {
        set(row, *column(path), Value(value.get<bool>() ? 1.0 : 0.0));
    } else if (value.is_string()) {
        set(row, *column(path), Value(value.get<std::string>()));
    }
}

} // namespace tessera::sweep
