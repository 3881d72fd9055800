// SPDX-License-Identifier: MIT
#include "sim/sweep/command/shown.h"

#include "base/config/suggest.h"
#include "base/error.h"
#include "base/text.h"
#include "sim/process/exit_code.h"
#include "sim/process/screen.h"
#include "sim/sweep/command/result_paths.h"
#include "sim/sweep/command/standing.h"
#include "sim/sweep/command/tell_damage.h"
#include "sim/sweep/frozen.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tessera::sweep {
namespace {

namespace fs = std::filesystem;

/// Texts with commas between several.
std::vector<std::string> parts_of(const std::vector<std::string>& texts) {
    std::vector<std::string> parts;
    for (const std::string& text : texts) {
        for (const std::string& part : split_values(text)) {
            if (part.empty()) {
                throw cli::UsageError("sweep show: got " + in_quotes(text) + ", expected paths");
            }
            parts.push_back(part);
        }
    }
    return parts;
}

/// The sweep that says what is good.
void read_sweep(const cli::SweepShowCommand& command, Asked& asked) {
    std::optional<fs::path> file;
    if (command.sweep.empty()) {
        file = last_frozen(asked.folder);
    }
    if (command.sweep.empty() && !file) {
        if (command.objectives.empty()) {
            asked.objectives = objectives_of({});
        }
        return;
    }
    asked.source = read_source({file ? file->string() : command.sweep, {}, {}, {}}, asked.places);
    asked.sweep = asked.source->sweep;
    check_result_paths(asked.sweep, asked.source->document);
    asked.constraints = constraints_of(asked.sweep, asked.source->document);
    asked.metrics = metrics_of(asked.sweep, asked.source->document);
    if (command.objectives.empty()) {
        asked.objectives = objectives_of(asked.sweep);
    }
}

Condition condition(const std::string& text, const std::string& option) {
    Diagnostic place;
    place.file = "sweep show: " + option;
    try {
        return Condition(text, place);
    } catch (const expression::Error& error) {
        throw cli::UsageError(fmt::format("sweep show: {} {}: character {}: {}", option,
                                          in_quotes(text), error.column(), error.what()));
    }
}

Objective objective(const std::string& text, const SweepSpec& sweep) {
    const std::size_t colon = text.rfind(':');
    const std::string goal = colon == std::string::npos ? "min" : text.substr(colon + 1);
    Objective made{text.substr(0, colon), goal == "max", {}, {}};
    if (goal != "min" && goal != "max") {
        throw cli::UsageError("sweep show: --objective: got " + in_quotes(text) +
                              ", expected PATH, PATH:min or PATH:max");
    }
    if (!is_column(made.path, sweep)) {
        const std::string near = hint_for(made.path, sweep);
        throw cli::UsageError("sweep show: --objective: no result has " + in_quotes(made.path) +
                              (near.empty() ? "" : "; " + near));
    }
    return made;
}

std::vector<std::string> paths_of(const std::vector<Objective>& objectives) {
    std::vector<std::string> paths;
    for (const Objective& objective : objectives) {
        paths.push_back(objective.path);
    }
    return paths;
}

/// Machines, workloads, modes and statuses of points.
bool is_word(const Shown& shown, const std::string& name) {
    for (std::size_t row = 0; row < shown.table.rows(); ++row) {
        for (const std::size_t column : {PointTable::kMachine, PointTable::kWorkload,
                                         PointTable::kMode, PointTable::kStatus}) {
            if (shown.table.text(shown.table.at(row, column)) == name ||
                short_name(shown.table.called(row, column).written) == name) {
                return true;
            }
        }
    }
    return false;
}

/// Names that mean nothing here are mistakes, and not just empty.
void check_names(const Shown& shown, const std::vector<std::string>& columns) {
    const auto check = [&](const std::string& option, const std::string& name, bool words) {
        const bool known = shown.table.column(name).has_value() ||
                           (words && (is_choice(name) || is_word(shown, name)));
        if (!known) {
            std::vector<std::string> names = result_paths();
            names.insert(names.end(), shown.table.changed().begin(), shown.table.changed().end());
            const std::string near = config::did_you_mean(name, names);
            throw cli::UsageError(fmt::format("sweep show: {}: no point has {}{}{}", option,
                                              in_quotes(name), near.empty() ? "" : "; ", near));
        }
    };
    for (const std::string& column : columns) {
        check("--columns", column, false);
    }
    for (const std::string& path : shown.group) {
        check("--group", path, false);
    }
    for (const auto& [path, down] : shown.sort) {
        check("--sort", path, false);
    }
    for (const Condition& filter : shown.filters) {
        for (const std::string& name : filter.names()) {
            check("--filter", name, true);
        }
    }
}

void sort_rows(Shown& shown) {
    std::vector<std::pair<std::size_t, bool>> columns;
    for (const auto& [path, down] : shown.sort) {
        columns.emplace_back(*shown.table.column(path), down);
    }
    // the store has them in the order of their ends
    for (const std::size_t column :
         {PointTable::kMachine, PointTable::kWorkload, PointTable::kMode}) {
        columns.emplace_back(column, false);
    }
    for (const std::string& path : shown.table.changed()) {
        columns.emplace_back(*shown.table.column(path), false);
    }
    std::stable_sort(shown.rows.begin(), shown.rows.end(), [&](std::size_t one, std::size_t other) {
        for (const auto& [column, down] : columns) {
            const int order = shown.table.compare(one, other, column);
            if (order != 0) {
                // what has nothing there comes last
                const bool empty = shown.table.at(one, column).kind == Cell::Kind::Nothing ||
                                   shown.table.at(other, column).kind == Cell::Kind::Nothing;
                return empty || !down ? order < 0 : order > 0;
            }
        }
        return false;
    });
}

} // namespace

Shown read_shown(const cli::SweepShowCommand& command, bool all_metrics) {
    const std::vector<std::string> columns = parts_of(command.columns);
    Asked asked;
    asked.folder = command.store;
    asked.places = config::default_config_paths();
    asked.group = parts_of(command.group);
    asked.base = command.base;
    need_store(asked.folder);
    read_sweep(command, asked);
    for (const std::string& filter : command.filters) {
        asked.filters.push_back(condition(filter, "--filter"));
    }
    for (const std::string& text : command.objectives) {
        asked.objectives.push_back(objective(text, asked.sweep));
    }
    for (const std::string& path : parts_of(command.sort)) {
        const bool down = path.front() == '-';
        asked.sort.push_back({path.substr(down ? 1 : 0), down});
    }
    std::vector<std::string> wanted = columns;
    const auto add = [&](const std::vector<std::string>& names) {
        wanted.insert(wanted.end(), names.begin(), names.end());
    };
    if (wanted.empty()) {
        wanted = paths_of(asked.objectives);
    }
    if (all_metrics) {
        for (const Metric& metric : asked.sweep.metrics) {
            wanted.push_back(metric.name);
        }
    }
    asked.wanted = wanted;
    add(asked.group);
    for (const auto& [path, down] : asked.sort) {
        wanted.push_back(path);
    }
    for (const Objective& objective : asked.objectives) {
        wanted.push_back(objective.path);
    }
    for (const Condition& filter : asked.filters) {
        add(filter.names());
    }
    for (const Condition& constraint : asked.constraints) {
        add(constraint.names());
    }
    std::erase_if(wanted, [&](const std::string& name) {
        return !is_column(name, asked.sweep) && name != "key" && name != "message" &&
               name != "note" && name != "model";
    });
    wanted.emplace_back(kEmptyMatrices);
    wanted.emplace_back("note");
    if (command.look != "points") {
        wanted.emplace_back("message"); // why what is left out is
    }
    wanted = with_needs(std::move(wanted), asked.metrics);
    Shown shown(std::move(asked), wanted);
    tell_damage(shown.table.damage());
    check_names(shown, columns);
    reckon(shown.table, wanted, shown.metrics, shown.folder, shown.places);
    for (const MetricColumn& metric : shown.metrics) {
        if (const std::string failure = metric.formula.failure("so it has no value for");
            !failure.empty()) {
            process::tell_warning(failure);
        }
    }
    for (std::size_t row = 0; row < shown.table.rows(); ++row) {
        if (all_hold(shown.filters, shown.table, row)) {
            shown.rows.push_back(row);
        }
    }
    sort_rows(shown);
    return shown;
}

bool has_several_modes(const Shown& shown) {
    std::set<std::uint32_t> modes;
    for (const std::size_t row : shown.rows) {
        modes.insert(shown.table.at(row, PointTable::kMode).word);
    }
    return modes.size() > 1;
}

std::vector<std::size_t> columns_of_points(const Shown& shown) {
    std::vector<std::size_t> columns{PointTable::kMachine, PointTable::kWorkload};
    if (has_several_modes(shown)) {
        columns.push_back(PointTable::kMode);
    }
    for (const std::string& path : shown.table.changed()) {
        columns.push_back(*shown.table.column(path));
    }
    for (const std::string& path : shown.wanted) {
        const std::size_t column = *shown.table.column(path);
        if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
            columns.push_back(column);
        }
    }
    return columns;
}

} // namespace tessera::sweep
