// SPDX-License-Identifier: MIT
#include "sim/report/command/store_entry.h"

#include "base/error.h"
#include "sim/cli/cli.h"
#include "sim/sweep/command/listings.h"
#include "sim/sweep/command/result_paths.h"
#include "sim/sweep/command/shown.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace tessera::report {
namespace {

using nlohmann::json;
using sweep::Judged;
using sweep::PointTable;
using sweep::Shown;

/// Figures of points, besides those that the sweep names and what its points change. Columns without
/// any value are left out.
constexpr std::array kFigures{"cycles",           "seconds",          "tflops",
                              "fraction_of_peak", "gbytes_per_s",     "phases.compute",
                              "phases.exchange",  "phases.sync",      "phases.stream",
                              "phases.link",      "memory.max_bytes", "tiles_busy",
                              "energy.total_j",   "energy.mean_w",    "energy.pj_per_flop",
                              "area.total_mm2"};

/// Words of points.
constexpr std::array kWords{"message", "note"};

/// Digits of a key that a page has: enough for `tessera run --point`.
constexpr std::size_t kKeyDigits = 12;

/// A number that looks random and depends on nothing else (the finaliser of MurmurHash3).
std::uint64_t mixed(std::uint64_t number) {
    number ^= number >> 33U;
    number *= 0xff51afd7ed558ccdULL;
    number ^= number >> 33U;
    number *= 0xc4ceb9fe1a85ec53ULL;
    return number ^ (number >> 33U);
}

/// The number that a cell's text is; else the text; nothing for an empty one.
json value_of(const sweep::ListedCell& cell) {
    double number = 0;
    const char* const end = cell.text.data() + cell.text.size();
    if (cell.text.empty()) {
        return nullptr;
    }
    if (cell.is_number) {
        const auto [stop, error] = std::from_chars(cell.text.data(), end, number);
        if (error == std::errc{} && stop == end) {
            return number;
        }
    }
    return cell.text;
}

json table_of(const sweep::Listing& listing) {
    json rows = json::array();
    for (std::size_t row = 0; row < listing.rows; ++row) {
        json cells = json::array();
        for (std::size_t column = 0; column < listing.head.size(); ++column) {
            cells.push_back(value_of(listing.cell(row, column)));
        }
        rows.push_back(std::move(cells));
    }
    return {{"head", listing.head}, {"rows", std::move(rows)}};
}

/// The column's values for some rows: numbers if it has only these, else indices of words. Null for
/// a column without values.
json column_of(const Shown& shown, std::size_t column, const std::vector<std::size_t>& rows) {
    bool has_words = false;
    bool has_values = false;
    for (const std::size_t row : rows) {
        const PointTable::Cell& cell = shown.table.at(row, column);
        has_words = has_words || cell.kind == PointTable::Cell::Kind::Word;
        has_values = has_values || cell.kind != PointTable::Cell::Kind::Nothing;
    }
    if (!has_values) {
        return nullptr;
    }
    json made{{"path", shown.table.paths()[column]}};
    json values = json::array();
    if (!has_words) {
        for (const std::size_t row : rows) {
            const PointTable::Cell& cell = shown.table.at(row, column);
            values.push_back(cell.is_number() ? json(cell.number) : json(nullptr));
        }
        made["numbers"] = std::move(values);
        return made;
    }
    std::map<std::string, int> numbers;
    json words = json::array();
    for (const std::size_t row : rows) {
        const std::string text = shown.table.text(shown.table.at(row, column));
        if (text.empty()) {
            values.push_back(-1);
            continue;
        }
        const auto [found, is_new] = numbers.emplace(text, static_cast<int>(words.size()));
        if (is_new) {
            words.push_back(text);
        }
        values.push_back(found->second);
    }
    made["indices"] = std::move(values);
    made["words"] = std::move(words);
    return made;
}

json key_column(const Shown& shown, const std::vector<std::size_t>& rows) {
    json indices = json::array();
    json words = json::array();
    for (const std::size_t row : rows) {
        indices.push_back(words.size());
        words.push_back(shown.table.key(row).text().substr(0, kKeyDigits));
    }
    return {{"path", "key"}, {"indices", std::move(indices)}, {"words", std::move(words)}};
}

json columns_of(const Shown& shown, const std::vector<std::size_t>& rows) {
    std::vector<std::size_t> order{PointTable::kMachine, PointTable::kWorkload, PointTable::kMode};
    const auto add = [&](const std::string& path) {
        const auto column = shown.table.column(path);
        if (column && std::find(order.begin(), order.end(), *column) == order.end()) {
            order.push_back(*column);
        }
    };
    for (const std::string& path : shown.table.changed()) {
        add(path);
    }
    order.push_back(PointTable::kStatus);
    for (const sweep::Objective& objective : shown.objectives) {
        add(objective.path);
    }
    for (const std::string& path : shown.wanted) {
        add(path);
    }
    json columns = json::array();
    for (const std::size_t column : order) {
        json made = column_of(shown, column, rows);
        if (made.is_null() && column <= PointTable::kStatus) {
            made = {{"path", shown.table.paths()[column]},
                    {"indices", json::array()},
                    {"words", json::array()}};
        }
        if (!made.is_null()) {
            columns.push_back(std::move(made));
        }
    }
    columns.push_back(key_column(shown, rows));
    return columns;
}

/// The table's rows of some of the judged.
std::vector<std::size_t> rows_of(const std::vector<const Judged*>& some) {
    std::vector<std::size_t> rows;
    for (const Judged* one : some) {
        rows.insert(rows.end(), one->rows.begin(), one->rows.end());
    }
    return rows;
}

/// Their places among the shown rows.
json places_of(const std::vector<std::size_t>& rows, const std::vector<std::size_t>& shown) {
    json places = json::array();
    for (const std::size_t row : rows) {
        const auto found = std::lower_bound(shown.begin(), shown.end(), row);
        if (found != shown.end() && *found == row) {
            places.push_back(found - shown.begin());
        }
    }
    return places;
}

std::vector<std::string> wanted_columns() {
    std::vector<std::string> paths;
    for (const char* path : kFigures) {
        TESSERA_ASSERT(sweep::is_result_path(path));
        paths.emplace_back(path);
    }
    paths.insert(paths.end(), kWords.begin(), kWords.end());
    return paths;
}

} // namespace

std::vector<std::size_t> sample(std::size_t count, std::size_t most,
                                const std::vector<std::size_t>& kept, std::uint64_t seed) {
    std::set<std::size_t> chosen(kept.begin(), kept.end());
    std::vector<std::pair<std::uint64_t, std::size_t>> others;
    for (std::size_t number = 0; number < count; ++number) {
        if (!chosen.contains(number)) {
            others.emplace_back(mixed(mixed(seed) + number), number);
        }
    }
    std::sort(others.begin(), others.end());
    for (const auto& [rank, number] : others) {
        if (chosen.size() >= most) {
            break;
        }
        chosen.insert(number);
    }
    return {chosen.begin(), chosen.end()};
}

Entry entry_of_store(const std::filesystem::path& folder) {
    cli::SweepShowCommand command;
    command.store = folder.string();
    command.columns = wanted_columns();
    command.look = "best"; // with the messages of what is left out
    Shown shown = sweep::read_shown(command, true);
    sweep::Judgement judgement(shown);
    const std::vector<Judged>& judged = judgement.judged();

    std::vector<const Judged*> front;
    for (const std::size_t one : sweep::front_of(judged, shown.objectives)) {
        front.push_back(&judged[one]);
    }
    std::vector<const Judged*> best;
    for (std::size_t i = 0; i < shown.objectives.size(); ++i) {
        if (const Judged* const winner = judgement.winner(i)) {
            best.push_back(winner);
        }
    }
    const std::vector<std::size_t> front_rows = rows_of(front);
    const std::vector<std::size_t> best_rows = rows_of(best);
    const std::vector<std::size_t> base_rows =
        judged.empty() ? std::vector<std::size_t>{} : judgement.base().rows;
    std::vector<std::size_t> kept = best_rows;
    kept.insert(kept.end(), front_rows.begin(), front_rows.end());
    kept.insert(kept.end(), base_rows.begin(), base_rows.end());
    const std::vector<std::size_t> rows =
        sample(shown.table.rows(), kMostPoints, kept, kSampleSeed);

    json statuses = json::object();
    for (std::size_t row = 0; row < shown.table.rows(); ++row) {
        json& count = statuses[shown.table.text(shown.table.at(row, PointTable::kStatus))];
        count = count.is_null() ? 1 : count.get<std::size_t>() + 1;
    }
    json objectives = json::array();
    for (const sweep::Objective& objective : shown.objectives) {
        objectives.push_back({{"path", objective.path},
                              {"text", judgement.text_of(objective)},
                              {"is_max", objective.largest}});
    }
    json constraints = json::array();
    for (const sweep::Condition& constraint : shown.constraints) {
        constraints.push_back(constraint.text());
    }
    const bool is_sampled = rows.size() < shown.table.rows();
    json store{{"folder", folder.filename().string()},
               {"points", shown.table.rows()},
               {"rows", rows.size()},
               {"seed", is_sampled ? json(kSampleSeed) : json(nullptr)},
               {"statuses", std::move(statuses)},
               {"reasons", sweep::left_out(shown.table, judged, true).lines(20)},
               {"warnings", shown.table.damage().warnings()},
               {"changed", shown.table.changed()},
               {"objectives", std::move(objectives)},
               {"constraints", std::move(constraints)},
               {"columns", columns_of(shown, rows)},
               {"front", places_of(front_rows, rows)},
               {"best", places_of(best_rows, rows)},
               {"base", places_of(base_rows, rows)},
               {"tables",
                {{"best", table_of(judgement.best())},
                 {"front", table_of(judgement.pareto())},
                 {"sensitivity", table_of(judgement.sensitivity())}}}};
    return {{{"kind", "store"},
             {"label", folder.filename().string()},
             {"source", folder.string()},
             {"store", std::move(store)}}};
}

} // namespace tessera::report
