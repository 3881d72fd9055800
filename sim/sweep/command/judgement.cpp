// SPDX-License-Identifier: MIT
#include "base/text.h"
#include "kernels/catalog/load.h"
#include "models/machine_file/load.h"
#include "sim/result/result.h"
#include "sim/sweep/command/listings.h"
#include "sim/sweep/command/standing.h"
#include "sim/sweep/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::sweep {

using Json = nlohmann::json;

/// What the sweep at hand says of its own lines; without one, of all lines of one mode.
Judgement::Judgement(Shown& shown) : shown_(shown) {
    // what was estimated first is no result of the sweep
    std::vector<std::size_t> rows;
    const std::uint32_t mode = shown.table.word(shown.sweep.mode);
    std::copy_if(
        shown.rows.begin(), shown.rows.end(), std::back_inserter(rows),
        [&](std::size_t row) { return shown.table.at(row, PointTable::kMode).word == mode; });
    if (shown.source && shown.source->is_asked) {
        candidates_ = candidates_in(shown.table, rows, shown.sweep.workloads);
    } else if (shown.source && shown.table.is_older()) {
        candidates_ = candidates_of_older(shown.sweep, shown.table, rows);
    } else if (shown.source) {
        PointKeys keys(result::kModelVersion);
        Planner planner(shown.sweep, shown.source->document, shown.places, keys);
        candidates_ = candidates_of(planner, shown.sweep, shown.table);
        if (!shown.filters.empty()) {
            candidates_ = among(std::move(candidates_), shown.rows);
        }
    } else {
        candidates_ = candidates_in(shown.table, rows.empty() ? shown.rows : rows);
    }
    judged_ = judge(shown.table, candidates_, shown.objectives, shown.constraints);
}

/// A row for some of the judged: what they are and what they come to.
Listing Judgement::listed(const std::vector<std::size_t>& some) const {
    std::vector<std::size_t> columns;
    for (const std::size_t column : columns_of_points(shown_)) {
        const std::string& path = shown_.table.paths()[column];
        const bool is_objective =
            std::any_of(shown_.objectives.begin(), shown_.objectives.end(),
                        [&](const Objective& one) { return one.path == path; });
        if (!is_objective && (column != PointTable::kWorkload || has_one_workload())) {
            columns.push_back(column);
        }
    }
    std::vector<Judged> rows;
    rows.reserve(some.size());
    for (const std::size_t one : some) {
        rows.push_back(judged_[one]);
    }
    Listing listing;
    for (const std::size_t column : columns) {
        listing.head.push_back(shown_.table.paths()[column]);
    }
    for (const Objective& objective : shown_.objectives) {
        listing.head.push_back(text_of(objective));
    }
    listing.rows = rows.size();
    listing.cell = [this, columns, rows = std::move(rows)](std::size_t row, std::size_t column) {
        if (column >= columns.size()) {
            return ListedCell{number_text(rows[row].values[column - columns.size()]), true};
        }
        const Cell& cell = rows[row].setting(shown_.table, columns[column]);
        return ListedCell{shown_.table.text(cell), cell.is_number()};
    };
    return listing;
}

bool Judgement::has_one_workload() const {
    return std::all_of(judged_.begin(), judged_.end(),
                       [](const Judged& one) { return one.candidate->lines.size() == 1; });
}

std::string Judgement::text_of(const Objective& objective) const {
    const char* const over = has_one_workload() ? ""
                             : objective.over == Objective::Over::GeometricMean
                                 ? "geometric mean of "
                             : objective.over == Objective::Over::WeightedSum ? "weighted sum of "
                                                                              : "worst ";
    return over + objective.path;
}

Listing Judgement::pareto() const {
    return listed(front_of(judged_, shown_.objectives));
}

const Judged* Judgement::winner(std::size_t objective) const {
    const Judged* best = nullptr;
    for (const Judged& one : judged_) {
        if (one.is_compared() &&
            (best == nullptr || is_better(shown_.objectives[objective], one.values[objective],
                                          best->values[objective]))) {
            best = &one;
        }
    }
    return best;
}

Listing Judgement::best() const {
    Listing listing;
    listing.head = {"objective", "value", "of the base", "machine", "what differs"};
    std::vector<std::vector<ListedCell>> rows;
    for (std::size_t i = 0; i < shown_.objectives.size(); ++i) {
        const Judged* const best = winner(i);
        if (best == nullptr) {
            continue;
        }
        const Judged& first = base();
        const double value = best->values[i];
        const bool has_ratio = first.is_whole() && first.values[i] != 0;
        rows.push_back(
            {{text_of(shown_.objectives[i]), false},
             {number_text(value), true},
             {has_ratio ? fmt::format("{:.1f} %", 100 * value / first.values[i]) : "", false},
             {shown_.table.text(shown_.table.at(best->rows.front(), PointTable::kMachine)), false},
             {difference(*best, first), false}});
    }
    listing.rows = rows.size();
    listing.cell = [rows = std::move(rows)](std::size_t row, std::size_t column) {
        return rows[row][column];
    };
    return listing;
}

const Judged& Judgement::base() const {
    if (!shown_.base.empty()) {
        return base_called(shown_.base);
    }
    const auto changes_nothing = [&](const Judged& one) {
        return std::all_of(shown_.table.changed().begin(), shown_.table.changed().end(),
                           [&](const std::string& path) {
                               const Cell& cell =
                                   one.setting(shown_.table, *shown_.table.column(path));
                               if (cell.kind == Cell::Kind::Nothing) {
                                   return true;
                               }
                               const auto base = base_number(path);
                               return base && cell.is_number() && cell.number == *base;
                           });
    };
    const auto found = std::find_if(judged_.begin(), judged_.end(), changes_nothing);
    return found != judged_.end() ? *found : judged_.front();
}

const Judged& Judgement::base_called(const std::string& name) const {
    const auto is_it = [&](const Judged& one, bool by_key) {
        return std::any_of(one.rows.begin(), one.rows.end(), [&](std::size_t row) {
            const PointTable& table = shown_.table;
            return by_key ? table.key(row).text().starts_with(name)
                          : table.text(table.at(row, PointTable::kMachine)) == name ||
                                short_name(table.called(row, PointTable::kMachine).written) == name;
        });
    };
    // of several of a machine, one that changes as little as possible
    const Judged* found = nullptr;
    std::size_t least = 0;
    for (const bool by_key : {false, true}) {
        for (const Judged& one : judged_) {
            const auto changes = static_cast<std::size_t>(std::count_if(
                shown_.table.changed().begin(), shown_.table.changed().end(),
                [&](const std::string& path) {
                    return one.setting(shown_.table, *shown_.table.column(path)).kind !=
                           Cell::Kind::Nothing;
                }));
            if (is_it(one, by_key) && (found == nullptr || changes < least)) {
                found = &one;
                least = changes;
            }
        }
        if (found != nullptr) {
            return *found;
        }
    }
    throw cli::UsageError(
        fmt::format("sweep show: --base: no candidate has the machine {}, or a key that begins so",
                    in_quotes(name)));
}

std::string Judgement::difference(const Judged& one, const Judged& base) const {
    std::string text;
    for (const std::string& path : shown_.table.changed()) {
        const std::size_t column = *shown_.table.column(path);
        const Cell& cell = one.setting(shown_.table, column);
        const Cell& base_cell = base.setting(shown_.table, column);
        if (cell == base_cell) {
            continue;
        }
        const auto number = base_number(path);
        const std::string was = base_cell.kind != Cell::Kind::Nothing ? shown_.table.text(base_cell)
                                : number                              ? number_text(*number)
                                                                      : "";
        text += fmt::format("{}{} = {}{}", text.empty() ? "" : ", ", path,
                            cell.kind == Cell::Kind::Nothing ? "as it is" : shown_.table.text(cell),
                            was.empty() ? "" : fmt::format(" (base {})", was));
    }
    return text.empty() ? "nothing" : text;
}

std::optional<double> Judgement::base_number(const std::string& path) const {
    const auto bases = base_numbers();
    const auto found = bases.find(path);
    return found == bases.end() ? std::nullopt : std::optional(found->second);
}

const std::map<std::string, double>& Judgement::base_numbers() const {
    if (bases_) {
        return *bases_;
    }
    bases_.emplace();
    if (!shown_.source) {
        return *bases_;
    }
    Changes set;
    for (const Change& change : shown_.sweep.set) {
        set.push_back(change);
    }
    const auto sets = catalog::split_overrides(sets_of(set));
    const auto file_of = [&](const char* kind, const std::string& name) {
        return shown_.sweep.places.file_of(kind, name, shown_.places);
    };
    const Json machine = machine_file::load(file_of(kMachinePath, shown_.sweep.machines.front()),
                                            shown_.places, sets.machine)
                             .resolved;
    const Json workload =
        catalog::load_workload(file_of(kWorkloadPath, shown_.sweep.workloads.front()),
                               shown_.places, sets.workload)
            .resolved;
    for (const std::string& path : shown_.table.changed()) {
        const bool of_workload = path.starts_with(catalog::kSetPrefix);
        std::string pointer =
            "/" + path.substr(of_workload ? std::string(catalog::kSetPrefix).size() : 0);
        std::replace(pointer.begin(), pointer.end(), '.', '/');
        const Json::json_pointer at(pointer);
        const Json& config = of_workload ? workload : machine;
        if (config.contains(at) && config.at(at).is_number()) {
            (*bases_)[path] = config.at(at).get<double>();
        }
    }
    return *bases_;
}

Listing Judgement::sensitivity() {
    Listing listing;
    listing.head = {"objective", "path",       "largest over smallest",
                    "points",    "elasticity", "mean by value"};
    std::vector<std::vector<ListedCell>> rows;
    for (const Effect& effect : effects_of(shown_.table, judged_, shown_.objectives, base_numbers(),
                                           shown_.sweep.derived)) {
        std::string means;
        std::size_t points = 0;
        for (const Effect::Level& level : effect.levels) {
            means +=
                fmt::format("{}{}: {:.6g}", means.empty() ? "" : ", ", level.value, level.mean);
            points += level.points;
        }
        rows.push_back({{text_of(shown_.objectives[effect.objective]), false},
                        {effect.path, false},
                        {fmt::format("{:.3f}", effect.largest_over_smallest), true},
                        {std::to_string(points), true},
                        {effect.elasticity ? fmt::format("{:.3f}", *effect.elasticity) : "", true},
                        {means, false}});
    }
    for (const Spread& spread : spread_of(shown_.table, judged_, shown_.objectives)) {
        rows.push_back({{text_of(shown_.objectives[spread.objective]), false},
                        {spread.paths, false},
                        {fmt::format("{:.3f}", spread.largest_over_smallest), true},
                        {std::to_string(spread.groups), true},
                        {"", true},
                        {"spread of points that differ in their seeds alone", false}});
    }
    listing.rows = rows.size();
    listing.cell = [rows = std::move(rows)](std::size_t row, std::size_t column) {
        return rows[row][column];
    };
    return listing;
}

} // namespace tessera::sweep
