// SPDX-License-Identifier: MIT
// `tessera sweep show`.
#include "base/config/read.h"
#include "base/config/suggest.h"
#include "base/error.h"
#include "base/layout.h"
#include "base/text.h"
#include "sim/process/exit_code.h"
#include "sim/process/screen.h"
#include "sim/result/result.h"
#include "sim/sweep/command/commands.h"
#include "sim/sweep/command/need_store.h"
#include "sim/sweep/command/result_paths.h"
#include "sim/sweep/command/standing.h"
#include "sim/sweep/frozen.h"
#include "sim/sweep/judge.h"
#include "sim/sweep/listing.h"
#include "sim/sweep/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

namespace tessera::sim {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using sweep::Cell;
using sweep::Condition;
using sweep::Effect;
using sweep::Judged;
using sweep::Listing;
using sweep::Objective;
using sweep::PointTable;
using sweep::Reasons;

/// Texts with commas between several.
std::vector<std::string> parts_of(const std::vector<std::string>& texts) {
    std::vector<std::string> parts;
    for (const std::string& text : texts) {
        for (const std::string& part : sweep::split_values(text)) {
            if (part.empty()) {
                throw UsageError("sweep show: got " + in_quotes(text) + ", expected paths");
            }
            parts.push_back(part);
        }
    }
    return parts;
}

class Show {
public:
    explicit Show(const SweepShowCommand& command)
        : command_(command), folder_(command.store), columns_(parts_of(command.columns)),
          group_(parts_of(command.group)) {
        need_store(folder_);
        read_sweep();
        for (const std::string& filter : command.filters) {
            filters_.push_back(condition(filter, "--filter"));
        }
        for (const std::string& text : command.objectives) {
            objectives_.push_back(objective(text));
        }
        for (const std::string& path : parts_of(command.sort)) {
            const bool down = path.front() == '-';
            sort_.push_back({path.substr(down ? 1 : 0), down});
        }
        std::vector<std::string> wanted = columns_;
        const auto add = [&](const std::vector<std::string>& names) {
            wanted.insert(wanted.end(), names.begin(), names.end());
        };
        if (wanted.empty()) {
            wanted = default_columns();
        }
        shown_ = wanted;
        add(group_);
        for (const auto& [path, down] : sort_) {
            wanted.push_back(path);
        }
        for (const Objective& objective : objectives_) {
            wanted.push_back(objective.path);
        }
        for (const Condition& filter : filters_) {
            add(filter.names());
        }
        for (const Condition& constraint : constraints_) {
            add(constraint.names());
        }
        std::erase_if(wanted, [](const std::string& name) {
            return !sweep::is_result_path(name) && !sweep::is_parameter(name) && name != "key" &&
                   name != "message" && name != "note" && name != "model";
        });
        wanted.emplace_back(sweep::kEmptyMatrices);
        wanted.emplace_back("note");
        if (command.look != "points") {
            wanted.emplace_back("message"); // why what is left out is
        }
        table_.emplace(folder_, wanted);
        tell_damage(table_->damage());
        check_names();
        sweep::fill_parameters(*table_, wanted, folder_, paths_);
        for (std::size_t row = 0; row < table_->rows(); ++row) {
            if (sweep::all_hold(filters_, *table_, row)) {
                rows_.push_back(row);
            }
        }
        sort(rows_);
    }

    int run() {
        Listing listing = command_.look == "pareto"        ? pareto()
                          : command_.look == "sensitivity" ? sensitivity()
                          : command_.look == "best"        ? best()
                          : !group_.empty()                ? grouped_rows()
                                                           : points();
        tell_failures(filters_);
        tell_failures(constraints_);
        const bool is_look = command_.look != "points";
        if (listing.rows > 0 || !is_look || command_.format != "text") {
            listing.print(command_.format, static_cast<std::size_t>(command_.limit));
        }
        if (rows_.empty()) {
            tell_failure(fmt::format("no point: {}", table_->rows() == 0
                                                         ? folder_.string() + " has none"
                                                         : "--filter holds for none of " +
                                                               counted(table_->rows(), "point")));
        } else if (is_look) {
            tell_left_out(listing.rows == 0);
        }
        return is_look && listing.rows == 0 ? kCheckFailed : kOk;
    }

private:
    struct Order {
        std::string path;
        bool down = false;
    };

    /// The sweep that says what is good.
    void read_sweep() {
        std::optional<fs::path> file;
        if (command_.sweep.empty()) {
            file = sweep::last_frozen(folder_);
        }
        if (command_.sweep.empty() && !file) {
            if (command_.objectives.empty()) {
                objectives_ = sweep::objectives_of({});
            }
            return;
        }
        source_ = sweep::read_source({file ? file->string() : command_.sweep, {}, {}, {}}, paths_);
        sweep_ = source_->sweep;
        sweep::check_result_paths(sweep_, source_->document);
        constraints_ = sweep::constraints_of(sweep_, source_->document);
        if (command_.objectives.empty()) {
            objectives_ = sweep::objectives_of(sweep_);
        }
    }

    Condition condition(const std::string& text, const std::string& option) const {
        try {
            return Condition(text, {"sweep show: " + option, 0, 0, "", "", ""});
        } catch (const expression::Error& error) {
            throw UsageError(fmt::format("sweep show: {} {}: character {}: {}", option,
                                         in_quotes(text), error.column(), error.what()));
        }
    }

    /// What the look at hand is not about, and why.
    void tell_left_out(bool is_all) const {
        const Reasons reasons = sweep::left_out(*table_, judged_, command_.look != "sensitivity");
        if (reasons.count() > 0) {
            tell_warning(fmt::format("{} of {} left out of --{}", reasons.count(),
                                     counted(judged_.size(), "candidate"), command_.look));
            for (const std::string& line : reasons.lines()) {
                std::fputs(("  " + line + "\n").c_str(), stderr);
            }
        }
        if (is_all && reasons.count() < judged_.size()) { // of --sensitivity alone
            tell_failure(
                "no effect to be seen: what the points differ in has the same value in all "
                "that can be compared, or the objective is not above 0");
        } else if (is_all) {
            tell_failure(fmt::format("--{}: no point can be compared", command_.look));
        }
    }

    static void tell_failures(const std::vector<Condition>& conditions) {
        for (const Condition& condition : conditions) {
            if (const std::string failure = condition.failure(); !failure.empty()) {
                tell_warning(failure);
            }
        }
    }

    static Objective objective(const std::string& text) {
        const std::size_t colon = text.rfind(':');
        const std::string goal = colon == std::string::npos ? "min" : text.substr(colon + 1);
        Objective made{text.substr(0, colon), goal == "max", {}, {}};
        if (goal != "min" && goal != "max") {
            throw UsageError("sweep show: --objective: got " + in_quotes(text) +
                             ", expected PATH, PATH:min or PATH:max");
        }
        if (!sweep::is_result_path(made.path)) {
            throw UsageError("sweep show: --objective: no result has " + in_quotes(made.path) +
                             hint(made.path));
        }
        return made;
    }

    static std::string hint(const std::string& path) {
        const std::string near = config::did_you_mean(path, sweep::result_paths());
        return near.empty() ? "" : "; " + near;
    }

    [[nodiscard]] std::vector<std::string> default_columns() const {
        std::vector<std::string> paths;
        for (const Objective& objective : objectives_) {
            paths.push_back(objective.path);
        }
        return paths;
    }

    /// Names that mean nothing here are mistakes, and not just empty.
    void check_names() {
        const auto check = [&](const std::string& option, const std::string& name, bool words) {
            const bool known = table_->column(name).has_value() ||
                               (words && (sweep::is_choice(name) || is_word(name)));
            if (!known) {
                std::vector<std::string> names = sweep::result_paths();
                names.insert(names.end(), table_->changed().begin(), table_->changed().end());
                const std::string near = config::did_you_mean(name, names);
                throw UsageError(fmt::format("sweep show: {}: no point has {}{}{}", option,
                                             in_quotes(name), near.empty() ? "" : "; ", near));
            }
        };
        for (const std::string& column : columns_) {
            check("--columns", column, false);
        }
        for (const std::string& path : group_) {
            check("--group", path, false);
        }
        for (const auto& [path, down] : sort_) {
            check("--sort", path, false);
        }
        for (const Condition& filter : filters_) {
            for (const std::string& name : filter.names()) {
                check("--filter", name, true);
            }
        }
    }

    /// Machines, workloads, modes and statuses of points.
    bool is_word(const std::string& name) {
        for (std::size_t row = 0; row < table_->rows(); ++row) {
            for (const std::size_t column : {PointTable::kMachine, PointTable::kWorkload,
                                             PointTable::kMode, PointTable::kStatus}) {
                if (table_->text(table_->at(row, column)) == name ||
                    sweep::short_name(table_->called(row, column).written) == name) {
                    return true;
                }
            }
        }
        return false;
    }

    void sort(std::vector<std::size_t>& rows) {
        std::vector<std::pair<std::size_t, bool>> columns;
        for (const auto& [path, down] : sort_) {
            columns.emplace_back(*table_->column(path), down);
        }
        // the store has them in the order of their ends
        for (const std::size_t column :
             {PointTable::kMachine, PointTable::kWorkload, PointTable::kMode}) {
            columns.emplace_back(column, false);
        }
        for (const std::string& path : table_->changed()) {
            columns.emplace_back(*table_->column(path), false);
        }
        std::stable_sort(rows.begin(), rows.end(), [&](std::size_t one, std::size_t other) {
            for (const auto& [column, down] : columns) {
                const int order = table_->compare(one, other, column);
                if (order != 0) {
                    // what has nothing there comes last
                    const bool empty = table_->at(one, column).kind == Cell::Kind::Nothing ||
                                       table_->at(other, column).kind == Cell::Kind::Nothing;
                    return empty || !down ? order < 0 : order > 0;
                }
            }
            return false;
        });
    }

    /// Whether names and settings do; not where several versions of the program wrote to the store.
    [[nodiscard]] bool tells_rows_apart() const {
        std::vector<std::size_t> columns{PointTable::kMachine, PointTable::kWorkload,
                                         PointTable::kMode};
        for (const std::string& path : table_->changed()) {
            columns.push_back(*table_->column(path));
        }
        std::unordered_set<std::string> keys;
        return std::all_of(rows_.begin(), rows_.end(), [&](std::size_t row) {
            return keys.insert(table_->key_of(row, columns)).second;
        });
    }

    [[nodiscard]] bool has_several_modes() const {
        std::set<std::uint32_t> modes;
        for (const std::size_t row : rows_) {
            modes.insert(table_->at(row, PointTable::kMode).word);
        }
        return modes.size() > 1;
    }

    /// Columns that say which point it is, and what is shown of it.
    [[nodiscard]] std::vector<std::size_t> columns_of_points() const {
        std::vector<std::size_t> columns{PointTable::kMachine, PointTable::kWorkload};
        if (has_several_modes()) {
            columns.push_back(PointTable::kMode);
        }
        for (const std::string& path : table_->changed()) {
            columns.push_back(*table_->column(path));
        }
        for (const std::string& path : shown_) {
            const std::size_t column = *table_->column(path);
            if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
                columns.push_back(column);
            }
        }
        return columns;
    }

    /// What the sweep at hand says of its own lines; without one, of all lines of one mode.
    const std::vector<Judged>& judged() {
        // what was estimated first is no result of the sweep
        std::vector<std::size_t> rows;
        const std::uint32_t mode = table_->word(sweep_.mode);
        std::copy_if(rows_.begin(), rows_.end(), std::back_inserter(rows), [&](std::size_t row) {
            return table_->at(row, PointTable::kMode).word == mode;
        });
        if (source_ && source_->is_asked) {
            candidates_ = sweep::candidates_in(*table_, rows, sweep_.workloads);
        } else if (source_ && table_->is_older()) {
            candidates_ = sweep::candidates_of_older(sweep_, *table_, rows);
        } else if (source_) {
            sweep::PointKeys keys(kModelVersion);
            sweep::Planner planner(sweep_, source_->document, paths_, keys);
            candidates_ = sweep::candidates_of(planner, sweep_, *table_);
            if (!filters_.empty()) {
                candidates_ = sweep::among(std::move(candidates_), rows_);
            }
        } else {
            candidates_ = sweep::candidates_in(*table_, rows.empty() ? rows_ : rows);
        }
        judged_ = sweep::judge(*table_, candidates_, objectives_, constraints_);
        return judged_;
    }

    Listing points() {
        std::vector<std::size_t> columns = columns_of_points();
        const bool are_apart = tells_rows_apart();
        const auto is_shown = [&](std::size_t column) {
            return std::find(columns.begin(), columns.end(), column) != columns.end();
        };
        if (!is_shown(PointTable::kStatus)) {
            columns.push_back(PointTable::kStatus);
        }
        const std::size_t note = *table_->column("note");
        if (!is_shown(note) && std::any_of(rows_.begin(), rows_.end(), [&](std::size_t row) {
                return table_->at(row, note).kind != Cell::Kind::Nothing;
            })) {
            columns.push_back(note);
        }
        std::set<std::size_t> broken;
        for (const std::size_t row : rows_) {
            if (table_->is_ok(row) && !sweep::all_hold(constraints_, *table_, row)) {
                broken.insert(row);
            }
        }
        Listing listing;
        for (const std::size_t column : columns) {
            listing.head.push_back(table_->paths()[column]);
        }
        if (!are_apart) {
            listing.head.emplace_back("key");
        }
        if (!broken.empty()) {
            listing.head.emplace_back("constraints");
        }
        listing.rows = rows_.size();
        listing.cell = [this, columns, are_apart, broken = std::move(broken)](std::size_t row,
                                                                              std::size_t column) {
            constexpr std::size_t kDigits = 8;
            if (column == columns.size() && !are_apart) {
                return sweep::ListedCell{table_->key(rows_[row]).text().substr(0, kDigits), false};
            }
            if (column >= columns.size()) {
                return sweep::ListedCell{broken.contains(rows_[row]) ? "broken" : "", false};
            }
            const Cell& cell = table_->at(rows_[row], columns[column]);
            return sweep::ListedCell{table_->text(cell), cell.is_number()};
        };
        return listing;
    }

    /// One row for all that agree: means of what else is shown.
    Listing grouped_rows() {
        std::vector<std::size_t> by;
        for (const std::string& path : group_) {
            by.push_back(*table_->column(path));
        }
        if (has_several_modes() && std::find(by.begin(), by.end(), PointTable::kMode) == by.end()) {
            by.push_back(PointTable::kMode); // an estimate and a run have no mean
        }
        std::vector<std::size_t> means;
        for (const std::string& path : shown_) {
            means.push_back(*table_->column(path));
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
        for (const std::size_t row : rows_) {
            std::string key;
            for (const std::size_t column : by) {
                key += table_->text(table_->at(row, column)) + '\n';
            }
            const auto [found, is_new] = known.try_emplace(key, groups.size());
            if (is_new) {
                groups.push_back({{},
                                  std::vector<double>(means.size()),
                                  std::vector<std::size_t>(means.size()),
                                  0,
                                  0});
                for (const std::size_t column : by) {
                    groups.back().cells.push_back(table_->at(row, column));
                }
            }
            Group& group = groups[found->second];
            ++group.points;
            if (!sweep::is_comparable(*table_, row)) {
                ++group.left_out;
                continue;
            }
            for (std::size_t i = 0; i < means.size(); ++i) {
                const Cell& cell = table_->at(row, means[i]);
                if (cell.is_number()) {
                    group.sums[i] += cell.number;
                    ++group.counts[i];
                }
            }
        }
        if (sort_.empty()) {
            std::stable_sort(groups.begin(), groups.end(),
                             [](const Group& one, const Group& other) {
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
            listing.head.push_back(table_->paths()[column]);
        }
        listing.head.emplace_back("points");
        for (const std::string& path : shown_) {
            listing.head.push_back("mean " + path);
        }
        if (std::any_of(groups.begin(), groups.end(),
                        [](const Group& group) { return group.left_out > 0; })) {
            listing.head.emplace_back("left out");
        }
        listing.rows = groups.size();
        listing.cell = [this, groups = std::move(groups), by](std::size_t row, std::size_t column) {
            const Group& group = groups[row];
            if (column < by.size()) {
                return sweep::ListedCell{table_->text(group.cells[column]),
                                         group.cells[column].is_number()};
            }
            if (column == by.size()) {
                return sweep::ListedCell{std::to_string(group.points), true};
            }
            const std::size_t i = column - by.size() - 1;
            if (i == group.counts.size()) {
                return sweep::ListedCell{std::to_string(group.left_out), true};
            }
            return group.counts[i] == 0
                       ? sweep::ListedCell{"", true}
                       : sweep::ListedCell{sweep::number_text(group.sums[i] /
                                                              static_cast<double>(group.counts[i])),
                                           true};
        };
        return listing;
    }

    /// A row for some of the judged: what they are and what they come to.
    Listing listed(const std::vector<Judged>& all, const std::vector<std::size_t>& some) {
        std::vector<std::size_t> columns;
        for (const std::size_t column : columns_of_points()) {
            const std::string& path = table_->paths()[column];
            const bool is_objective =
                std::any_of(objectives_.begin(), objectives_.end(),
                            [&](const Objective& one) { return one.path == path; });
            if (!is_objective && (column != PointTable::kWorkload || has_one_workload(all))) {
                columns.push_back(column);
            }
        }
        std::vector<Judged> rows;
        rows.reserve(some.size());
        for (const std::size_t one : some) {
            rows.push_back(all[one]);
        }
        Listing listing;
        for (const std::size_t column : columns) {
            listing.head.push_back(table_->paths()[column]);
        }
        for (const Objective& objective : objectives_) {
            listing.head.push_back(objective_text(objective, all));
        }
        listing.rows = rows.size();
        listing.cell = [this, columns, rows = std::move(rows)](std::size_t row,
                                                               std::size_t column) {
            if (column >= columns.size()) {
                return sweep::ListedCell{
                    sweep::number_text(rows[row].values[column - columns.size()]), true};
            }
            const Cell& cell = rows[row].setting(*table_, columns[column]);
            return sweep::ListedCell{table_->text(cell), cell.is_number()};
        };
        return listing;
    }

    [[nodiscard]] static bool has_one_workload(const std::vector<Judged>& all) {
        return std::all_of(all.begin(), all.end(),
                           [](const Judged& one) { return one.candidate->lines.size() == 1; });
    }

    [[nodiscard]] static std::string objective_text(const Objective& objective,
                                                    const std::vector<Judged>& all) {
        const char* const over =
            has_one_workload(all)                              ? ""
            : objective.over == Objective::Over::GeometricMean ? "geometric mean of "
            : objective.over == Objective::Over::WeightedSum   ? "weighted sum of "
                                                               : "worst ";
        return over + objective.path;
    }

    Listing pareto() {
        const auto& all = judged();
        return listed(all, sweep::front_of(all, objectives_));
    }

    Listing best() {
        const auto& all = judged();
        const Judged* const first = base_of(all);
        Listing listing;
        listing.head = {"objective", "value", "of the base", "machine", "what differs"};
        std::vector<std::vector<sweep::ListedCell>> rows;
        for (std::size_t i = 0; i < objectives_.size(); ++i) {
            const Judged* winner = nullptr;
            for (const Judged& one : all) {
                if (one.is_compared() &&
                    (winner == nullptr ||
                     sweep::is_better(objectives_[i], one.values[i], winner->values[i]))) {
                    winner = &one;
                }
            }
            if (winner == nullptr) {
                continue;
            }
            const double value = winner->values[i];
            const bool has_ratio = first != nullptr && first->is_whole() && first->values[i] != 0;
            rows.push_back(
                {{objective_text(objectives_[i], all), false},
                 {sweep::number_text(value), true},
                 {has_ratio ? fmt::format("{:.1f} %", 100 * value / first->values[i]) : "", false},
                 {table_->text(table_->at(winner->rows.front(), PointTable::kMachine)), false},
                 {difference(*winner, first), false}});
        }
        listing.rows = rows.size();
        listing.cell = [rows = std::move(rows)](std::size_t row, std::size_t column) {
            return rows[row][column];
        };
        return listing;
    }

    /// The point that changes nothing, or the first that there is.
    [[nodiscard]] const Judged* base_of(const std::vector<Judged>& all) const {
        const auto changes_nothing = [&](const Judged& one) {
            return std::all_of(table_->changed().begin(), table_->changed().end(),
                               [&](const std::string& path) {
                                   const Cell& cell = one.setting(*table_, *table_->column(path));
                                   if (cell.kind == Cell::Kind::Nothing) {
                                       return true;
                                   }
                                   const auto base = base_number(path);
                                   return base && cell.is_number() && cell.number == *base;
                               });
        };
        const auto found = std::find_if(all.begin(), all.end(), changes_nothing);
        return found != all.end() ? &*found : all.empty() ? nullptr : &all.front();
    }

    [[nodiscard]] std::string difference(const Judged& one, const Judged* base) const {
        std::string text;
        for (const std::string& path : table_->changed()) {
            const std::size_t column = *table_->column(path);
            const Cell& cell = one.setting(*table_, column);
            if (base != nullptr && cell == base->setting(*table_, column)) {
                continue;
            }
            const auto number = base_number(path);
            const std::string was =
                base != nullptr && base->setting(*table_, column).kind != Cell::Kind::Nothing
                    ? table_->text(base->setting(*table_, column))
                : number ? sweep::number_text(*number)
                         : "";
            text += fmt::format("{}{} = {}{}", text.empty() ? "" : ", ", path,
                                cell.kind == Cell::Kind::Nothing ? "as it is" : table_->text(cell),
                                was.empty() ? "" : fmt::format(" (base {})", was));
        }
        return text.empty() ? "nothing" : text;
    }

    /// What a path is in the sweep's first machine and workload.
    [[nodiscard]] std::optional<double> base_number(const std::string& path) const {
        const auto bases = base_numbers();
        const auto found = bases.find(path);
        return found == bases.end() ? std::nullopt : std::optional(found->second);
    }

    [[nodiscard]] const std::map<std::string, double>& base_numbers() const {
        if (bases_) {
            return *bases_;
        }
        bases_.emplace();
        if (!source_) {
            return *bases_;
        }
        sweep::Changes set;
        for (const sweep::Change& change : sweep_.set) {
            set.push_back(change);
        }
        const auto sets = catalog::split_overrides(sweep::sets_of(set));
        const auto file_of = [&](const char* kind, const std::string& name) {
            return sweep_.places.file_of(kind, name, paths_);
        };
        const Json machine =
            spec::load_machine(file_of(sweep::kMachinePath, sweep_.machines.front()), paths_,
                               sets.machine)
                .resolved;
        const Json workload =
            catalog::load_workload(file_of(sweep::kWorkloadPath, sweep_.workloads.front()), paths_,
                                   sets.workload)
                .resolved;
        for (const std::string& path : table_->changed()) {
            const bool of_workload = path.rfind(catalog::kSetPrefix, 0) == 0;
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

    Listing sensitivity() {
        const auto& all = judged();
        Listing listing;
        listing.head = {"objective",    "path",   "value",     "mean",
                        "of the least", "points", "elasticity"};
        std::vector<std::vector<sweep::ListedCell>> rows;
        for (const Effect& effect : sweep::effects_of(*table_, all, objectives_, base_numbers())) {
            double least = effect.levels.front().mean;
            for (const Effect::Level& level : effect.levels) {
                least = std::min(least, level.mean);
            }
            for (std::size_t i = 0; i < effect.levels.size(); ++i) {
                const Effect::Level& level = effect.levels[i];
                rows.push_back(
                    {{objective_text(objectives_[effect.objective], all), false},
                     {effect.path, false},
                     {level.value, level.is_number},
                     {sweep::number_text(level.mean), true},
                     {fmt::format("{:.3f}", level.mean / least), true},
                     {std::to_string(level.points), true},
                     {i == 0 && effect.elasticity ? fmt::format("{:.3f}", *effect.elasticity) : "",
                      true}});
            }
        }
        for (const sweep::Spread& spread : sweep::spread_of(*table_, all, objectives_)) {
            rows.push_back({{objective_text(objectives_[spread.objective], all), false},
                            {spread.paths, false},
                            {"largest over smallest", false},
                            {"", true},
                            {fmt::format("{:.3f}", spread.largest_over_smallest), true},
                            {std::to_string(spread.groups), true},
                            {"", true}});
        }
        listing.rows = rows.size();
        listing.cell = [rows = std::move(rows)](std::size_t row, std::size_t column) {
            return rows[row][column];
        };
        return listing;
    }

    const SweepShowCommand& command_;
    fs::path folder_;
    config::ConfigPaths paths_ = config::default_config_paths();
    std::vector<std::string> columns_;
    std::vector<std::string> group_;
    std::vector<Order> sort_;
    std::vector<Condition> filters_;
    std::vector<Condition> constraints_;
    std::optional<sweep::Source> source_;
    sweep::SweepSpec sweep_;
    std::vector<Objective> objectives_;
    std::vector<std::string> shown_;
    std::optional<PointTable> table_;
    std::vector<std::size_t> rows_;
    std::vector<sweep::Candidate> candidates_;
    std::vector<Judged> judged_;
    mutable std::optional<std::map<std::string, double>> bases_;
};

} // namespace

int sweep_show(const SweepShowCommand& command) {
    return Show(command).run();
}

} // namespace tessera::sim
