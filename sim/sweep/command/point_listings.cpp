// SPDX-License-Identifier: MIT
#include "sim/sweep/command/listings.h"

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

namespace tessera::sweep {

namespace {

/// Whether names and settings do; not where several versions of the program wrote to the store.
bool tells_rows_apart(const Shown& shown) {
    std::vector<std::size_t> columns{PointTable::kMachine, PointTable::kWorkload,
                                     PointTable::kMode};
    for (const std::string& path : shown.table.changed()) {
        columns.push_back(*shown.table.column(path));
    }
    std::unordered_set<std::string> keys;
    return std::all_of(shown.rows.begin(), shown.rows.end(), [&](std::size_t row) {
        return keys.insert(shown.table.key_of(row, columns)).second;
    });
}

} // namespace

Listing points_of(Shown& shown) {
    std::vector<std::size_t> columns = columns_of_points(shown);
    const bool are_apart = tells_rows_apart(shown);
    const auto is_shown = [&](std::size_t column) {
        return std::find(columns.begin(), columns.end(), column) != columns.end();
    };
    if (!is_shown(PointTable::kStatus)) {
        columns.push_back(PointTable::kStatus);
    }
    const std::size_t note = *shown.table.column("note");
    if (!is_shown(note) && std::any_of(shown.rows.begin(), shown.rows.end(), [&](std::size_t row) {
            return shown.table.at(row, note).kind != Cell::Kind::Nothing;
        })) {
        columns.push_back(note);
    }
    std::set<std::size_t> broken;
    for (const std::size_t row : shown.rows) {
        if (shown.table.is_ok(row) && !all_hold(shown.constraints, shown.table, row)) {
            broken.insert(row);
        }
    }
    Listing listing;
    for (const std::size_t column : columns) {
        listing.head.push_back(shown.table.paths()[column]);
    }
    if (!are_apart) {
        listing.head.emplace_back("key");
    }
    if (!broken.empty()) {
        listing.head.emplace_back("constraints");
    }
    listing.rows = shown.rows.size();
    listing.cell = [&shown, columns, are_apart, broken = std::move(broken)](std::size_t row,
                                                                            std::size_t column) {
        constexpr std::size_t kDigits = 8;
        if (column == columns.size() && !are_apart) {
            return ListedCell{shown.table.key(shown.rows[row]).text().substr(0, kDigits), false};
        }
        if (column >= columns.size()) {
            return ListedCell{broken.contains(shown.rows[row]) ? "broken" : "", false};
        }
        const Cell& cell = shown.table.at(shown.rows[row], columns[column]);
        return ListedCell{shown.table.text(cell), cell.is_number()};
    };
    return listing;
}

Listing groups_of(const Shown& shown) {
    std::vector<std::size_t> by;
    for (const std::string& path : shown.group) {
        by.push_back(*shown.table.column(path));
    }
    if (has_several_modes(shown) &&
        std::find(by.begin(), by.end(), PointTable::kMode) == by.end()) {
        by.push_back(PointTable::kMode); // an estimate and a run have no mean
    }
    std::vector<std::size_t> means;
    for (const std::string& path : shown.wanted) {
        means.push_back(*shown.table.column(path));
    }
    struct Group {
        std::vector<Cell> cells;
        std::vector<double> sums;
        std::vector<std::size_t> counts;
        std::size_t points = 0;
        std::size_t left_out = 0;
    };
    std::map<std::string, std::size_t> known;
    std::vector<Group> groups;
    for (const std::size_t row : shown.rows) {
        std::string key;
        for (const std::size_t column : by) {
            key += shown.table.text(shown.table.at(row, column)) + '\n';
        }
        const auto [found, is_new] = known.try_emplace(key, groups.size());
        if (is_new) {
            groups.push_back({{},
                              std::vector<double>(means.size()),
                              std::vector<std::size_t>(means.size()),
                              0,
                              0});
            for (const std::size_t column : by) {
                groups.back().cells.push_back(shown.table.at(row, column));
            }
        }
        Group& group = groups[found->second];
        ++group.points;
        if (!is_comparable(shown.table, row)) {
            ++group.left_out;
            continue;
        }
        for (std::size_t i = 0; i < means.size(); ++i) {
            const Cell& cell = shown.table.at(row, means[i]);
            if (cell.is_number()) {
                group.sums[i] += cell.number;
                ++group.counts[i];
            }
        }
    }
    if (shown.sort.empty()) {
        std::stable_sort(groups.begin(), groups.end(), [](const Group& one, const Group& other) {
            for (std::size_t i = 0; i < one.cells.size(); ++i) {
                const Cell& a = one.cells[i];
                const Cell& b = other.cells[i];
                if (a.is_number() && b.is_number() && a.number != b.number) {
                    return a.number < b.number;
                }
            }
            return false;
        });
    }
    Listing listing;
    for (const std::size_t column : by) {
        listing.head.push_back(shown.table.paths()[column]);
    }
    listing.head.emplace_back("points");
    for (const std::string& path : shown.wanted) {
        listing.head.push_back("mean " + path);
    }
    if (std::any_of(groups.begin(), groups.end(),
                    [](const Group& group) { return group.left_out > 0; })) {
        listing.head.emplace_back("left out");
    }
    listing.rows = groups.size();
    listing.cell = [&shown, groups = std::move(groups), by](std::size_t row, std::size_t column) {
        const Group& group = groups[row];
        if (column < by.size()) {
            return ListedCell{shown.table.text(group.cells[column]),
                              group.cells[column].is_number()};
        }
        if (column == by.size()) {
            return ListedCell{std::to_string(group.points), true};
        }
        const std::size_t i = column - by.size() - 1;
        if (i == group.counts.size()) {
            return ListedCell{std::to_string(group.left_out), true};
        }
        return group.counts[i] == 0
                   ? ListedCell{"", true}
                   : ListedCell{number_text(group.sums[i] / static_cast<double>(group.counts[i])),
                                true};
    };
    return listing;
}

} // namespace tessera::sweep
