// SPDX-License-Identifier: MIT
#include "sim/sweep/judge.h"

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

namespace tessera::sweep {
namespace {

/// What draws the same thing again, differently.
bool is_seed(const std::string& path) {
    return path == "seed" || path.ends_with(".seed");
}

std::vector<std::size_t> changed_columns(const PointTable& table, bool with_seeds) {
    std::vector<std::size_t> columns{PointTable::kMachine, PointTable::kMode};
    for (const std::string& path : table.changed()) {
        if (with_seeds || !is_seed(path)) {
            columns.push_back(*table.column(path));
        }
    }
    return columns;
}

double mean_of(const std::vector<double>& values) { // geometric
    double sum = 0;
    for (const double value : values) {
        sum += std::log(value);
    }
    return std::exp(sum / static_cast<double>(values.size()));
}

bool all_above_0(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

/// One number of several workloads'.
std::optional<double> combined(const Objective& objective, const std::vector<double>& values,
                               const std::vector<std::size_t>& workloads) {
    switch (objective.over) {
    case Objective::Over::GeometricMean:
        if (values.size() == 1) {
            return values.front();
        }
        return all_above_0(values) ? std::optional(mean_of(values)) : std::nullopt;
    case Objective::Over::WeightedSum: {
        double sum = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::size_t workload = workloads[i];
            sum += values[i] *
                   (workload < objective.weights.size() ? objective.weights[workload] : 1.0);
        }
        return sum;
    }
    default:
        return objective.largest ? *std::min_element(values.begin(), values.end())
                                 : *std::max_element(values.begin(), values.end());
    }
}

/// d ln y / d ln x by least squares; nothing where x does not change.
std::optional<double> slope_of(const std::vector<std::pair<double, double>>& points) {
    double mean = 0; // of ln x
    for (const auto& [at, value] : points) {
        mean += std::log(at) / static_cast<double>(points.size());
    }
    double xy = 0;
    double xx = 0;
    for (const auto& [at, value] : points) {
        xy += (std::log(at) - mean) * std::log(value);
        xx += (std::log(at) - mean) * std::log(at);
    }
    constexpr double kFlat = 1e-12;
    return xx > kFlat ? std::optional(xy / xx) : std::nullopt;
}

} // namespace

const Cell& Judged::setting(const PointTable& table, std::size_t column) const {
    const auto changes = std::find_if(rows.begin(), rows.end(), [&](std::size_t row) {
        return table.at(row, column).kind != Cell::Kind::Nothing;
    });
    return table.at(changes == rows.end() ? rows.front() : *changes, column);
}

bool is_comparable(const PointTable& table, std::size_t row) {
    const auto column = table.column(kEmptyMatrices);
    return table.is_ok(row) && !(column && table.at(row, *column).number > 0);
}

Reasons left_out(const PointTable& table, const std::vector<Judged>& judged,
                 bool with_constraints) {
    const auto text_at = [&](std::size_t row, const std::string& path) {
        const auto column = table.column(path);
        return column ? table.text(table.at(row, *column)) : std::string();
    };
    Reasons reasons;
    for (const Judged& one : judged) {
        const std::size_t row = one.is_whole() ? one.rows.front() : one.row_not_whole;
        std::string point = text_at(row, "machine") + " " + text_at(row, "workload");
        for (const std::string& path : table.changed()) {
            const std::string value = text_at(row, path);
            point += value.empty() ? "" : fmt::format(" {}={}", path, value);
        }
        if (!one.is_whole()) {
            const std::string message = text_at(row, "message");
            reasons.add(one.why_not_whole, message.empty() ? text_at(row, "note") : message, point);
        } else if (with_constraints && !one.keeps_constraints()) {
            reasons.add("breaks " + in_quotes(one.broken, expression::kLongestShown), "", point);
        }
    }
    return reasons;
}

bool is_better(const Objective& objective, double one, double other) {
    return objective.largest ? one > other : one < other;
}

std::vector<Judged> judge(PointTable& table, const std::vector<Candidate>& candidates,
                          const std::vector<Objective>& objectives,
                          std::vector<Condition>& constraints) {
    std::vector<std::size_t> numbers; // of the objectives' columns
    numbers.reserve(objectives.size());
    for (const Objective& objective : objectives) {
        numbers.push_back(table.column(objective.path).value());
    }
    std::vector<Judged> judged;
    for (const Candidate& candidate : candidates) {
        Judged one;
        one.candidate = &candidate;
        std::vector<std::size_t> workloads;
        for (const Candidate::Line& line : candidate.lines) {
            if (line.row) {
                one.rows.push_back(*line.row);
                workloads.push_back(line.workload);
            }
        }
        if (one.rows.empty()) {
            continue;
        }
        const auto fail = [&](std::size_t row, std::string why) {
            if (one.why_not_whole.empty()) {
                one.why_not_whole = std::move(why);
                one.row_not_whole = row;
            }
        };
        for (const std::size_t row : one.rows) {
            for (Condition& constraint : constraints) {
                if (one.broken.empty() && !constraint.holds(table, row)) {
                    one.broken = constraint.text();
                }
            }
            if (!table.is_ok(row)) {
                fail(row, table.text(table.at(row, PointTable::kStatus)));
            } else if (!is_comparable(table, row)) {
                fail(row, "has computed no product");
            }
        }
        if (one.rows.size() != candidate.lines.size()) {
            fail(one.rows.front(), fmt::format("has run {} of {} workloads", one.rows.size(),
                                               candidate.lines.size()));
        }
        std::vector<double> values;
        for (std::size_t i = 0; i < objectives.size() && one.why_not_whole.empty(); ++i) {
            std::vector<double> each;
            for (const std::size_t row : one.rows) {
                const Cell cell = table.value(row, numbers[i]);
                if (!cell.is_number()) {
                    fail(row, "has no " + objectives[i].path);
                }
                each.push_back(cell.number);
            }
            const auto value = combined(objectives[i], each, workloads);
            if (!value) {
                fail(one.rows.front(),
                     fmt::format("has no geometric mean of {}, which is not above 0 everywhere",
                                 objectives[i].path));
            }
            values.push_back(value.value_or(0));
        }
        one.values = one.why_not_whole.empty() ? std::move(values) : std::vector<double>{};
        judged.push_back(std::move(one));
    }
    return judged;
}

std::vector<std::size_t> front_of(const std::vector<Judged>& judged,
                                  const std::vector<Objective>& objectives) {
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < judged.size(); ++i) {
        if (judged[i].is_compared()) {
            candidates.push_back(i);
        }
    }
    const auto before = [&](std::size_t one, std::size_t other) {
        for (std::size_t i = 0; i < objectives.size(); ++i) {
            const double a = judged[one].values[i];
            const double b = judged[other].values[i];
            if (a != b) {
                return is_better(objectives[i], a, b);
            }
        }
        return one < other;
    };
    std::sort(candidates.begin(), candidates.end(), before);
    // whoever is better than a point comes before it
    std::vector<std::size_t> front;
    for (const std::size_t candidate : candidates) {
        const bool is_beaten = std::any_of(front.begin(), front.end(), [&](std::size_t known) {
            bool better = false;
            for (std::size_t i = 0; i < objectives.size(); ++i) {
                const double a = judged[known].values[i];
                const double b = judged[candidate].values[i];
                if (is_better(objectives[i], b, a)) {
                    return false;
                }
                better = better || a != b;
            }
            return better;
        });
        if (!is_beaten) {
            front.push_back(candidate);
        }
    }
    return front;
}

namespace {

using SortedLevels = std::vector<std::pair<Cell, Effect::Level>>;

/// Levels in order as a few ranges of about as many points each.
SortedLevels ranges_of(const SortedLevels& levels) {
    constexpr std::size_t kRanges = 4;
    std::size_t points = 0;
    for (const auto& [cell, level] : levels) {
        points += level.points;
    }
    SortedLevels ranges;
    std::size_t done = 0;
    for (std::size_t i = 0; i < levels.size();) {
        const std::size_t wanted = points * (ranges.size() + 1) / kRanges;
        const std::size_t first = i;
        double logarithms = 0;
        std::size_t count = 0;
        do {
            const Effect::Level& level = levels[i++].second;
            logarithms += std::log(level.mean) * static_cast<double>(level.points);
            count += level.points;
        } while (i < levels.size() && done + count < wanted);
        done += count;
        const std::string& from = levels[first].second.value;
        const std::string& to = levels[i - 1].second.value;
        ranges.emplace_back(levels[first].first,
                            Effect::Level{from == to ? from : from + ".." + to,
                                          std::exp(logarithms / static_cast<double>(count)),
                                          count});
    }
    return ranges;
}

} // namespace

std::vector<Effect> effects_of(PointTable& table, const std::vector<Judged>& judged,
                               const std::vector<Objective>& objectives,
                               const std::map<std::string, double>& base,
                               const std::vector<Derived>& derived) {
    std::vector<std::string> paths = table.changed();
    std::erase_if(paths, [&](const std::string& path) {
        return is_seed(path) || std::any_of(derived.begin(), derived.end(),
                                            [&](const Derived& one) { return one.path == path; });
    });
    // What all points have alike changes nothing.
    std::erase_if(paths, [&](const std::string& path) {
        const std::size_t column = *table.column(path);
        return std::all_of(judged.begin(), judged.end(), [&](const Judged& one) {
            return one.setting(table, column) == judged.front().setting(table, column);
        });
    });
    std::vector<std::size_t> columns;
    columns.reserve(paths.size());
    for (const std::string& path : paths) {
        columns.push_back(*table.column(path));
    }
    const auto changes = [&](const Judged& one) {
        return std::count_if(columns.begin(), columns.end(), [&](std::size_t column) {
            return one.setting(table, column).kind != Cell::Kind::Nothing;
        });
    };
    const bool has_base = std::any_of(judged.begin(), judged.end(),
                                      [&](const Judged& one) { return changes(one) == 0; });
    std::vector<Effect> effects;
    for (std::size_t objective = 0; objective < objectives.size(); ++objective) {
        const std::size_t first = effects.size();
        for (std::size_t path = 0; path < paths.size(); ++path) {
            struct Level {
                Cell cell;
                std::vector<double> values;
            };
            std::map<std::string, Level> levels;
            for (const Judged& one : judged) {
                const Cell& cell = one.setting(table, columns[path]);
                const bool is_set = cell.kind != Cell::Kind::Nothing;
                const bool counts = !has_base || changes(one) == (is_set ? 1 : 0);
                if (one.is_whole() && counts && one.values[objective] > 0) {
                    Cell at = cell;
                    const auto known = base.find(paths[path]);
                    if (!is_set && known != base.end()) {
                        at.number = known->second;
                        at.kind = Cell::Kind::Number;
                    }
                    Level& level =
                        levels[at.kind == Cell::Kind::Nothing ? "as it is" : table.text(at)];
                    level.cell = at;
                    level.values.push_back(one.values[objective]);
                }
            }
            if (levels.size() < 2) {
                continue;
            }
            Effect effect;
            effect.path = paths[path];
            effect.objective = objective;
            std::vector<std::pair<double, double>> points;
            bool numbers = true;
            bool are_above_0 = true;
            std::vector<std::pair<Cell, Effect::Level>> sorted;
            for (const auto& [text, level] : levels) {
                const double mean = mean_of(level.values);
                sorted.emplace_back(level.cell, Effect::Level{text, mean, level.values.size()});
                numbers = numbers && level.cell.is_number();
                are_above_0 = are_above_0 && level.cell.is_number() && level.cell.number > 0;
                points.emplace_back(level.cell.number, mean);
            }
            std::stable_sort(sorted.begin(), sorted.end(), [](const auto& one, const auto& other) {
                return one.first.is_number() && other.first.is_number() &&
                       one.first.number < other.first.number;
            });
            if (sorted.size() > kMostLevels && numbers) {
                sorted = ranges_of(sorted);
            }
            double least = sorted.front().second.mean;
            double most = least;
            for (auto& [cell, level] : sorted) {
                least = std::min(least, level.mean);
                most = std::max(most, level.mean);
                effect.levels.push_back(std::move(level));
            }
            effect.largest_over_smallest = most / least;
            effect.elasticity = are_above_0 ? slope_of(points) : std::nullopt;
            effects.push_back(std::move(effect));
        }
        std::stable_sort(effects.begin() + static_cast<std::ptrdiff_t>(first), effects.end(),
                         [](const Effect& one, const Effect& other) {
                             return one.largest_over_smallest > other.largest_over_smallest;
                         });
    }
    return effects;
}

std::vector<Spread> spread_of(PointTable& table, const std::vector<Judged>& judged,
                              const std::vector<Objective>& objectives) {
    std::vector<Spread> spreads;
    std::string seeds;
    for (const std::string& path : table.changed()) {
        seeds += is_seed(path) ? (seeds.empty() ? "" : ", ") + path : "";
    }
    if (seeds.empty()) {
        return spreads;
    }
    const auto columns = changed_columns(table, false);
    std::map<std::string, std::vector<const Judged*>> alike;
    for (const Judged& one : judged) {
        if (one.is_whole()) {
            std::string key;
            for (const std::size_t row : one.rows) {
                key += table.key_of(row, columns);
            }
            alike[key].push_back(&one);
        }
    }
    for (std::size_t objective = 0; objective < objectives.size(); ++objective) {
        std::vector<double> ratios;
        for (const auto& [key, replicates] : alike) {
            double least = replicates.front()->values[objective];
            double most = least;
            for (const Judged* one : replicates) {
                least = std::min(least, one->values[objective]);
                most = std::max(most, one->values[objective]);
            }
            if (replicates.size() > 1 && least > 0) {
                ratios.push_back(most / least);
            }
        }
        if (!ratios.empty()) {
            spreads.push_back({seeds, objective, ratios.size(), mean_of(ratios)});
        }
    }
    return spreads;
}

} // namespace tessera::sweep
