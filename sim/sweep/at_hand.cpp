// SPDX-License-Identifier: MIT
#include "sim/sweep/at_hand.h"

#include "base/error.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tessera::sweep {
namespace {

/// Rows by what they are called.
class Rows {
public:
    explicit Rows(const PointTable& table) : table_(table) {
        for (std::size_t row = 0; row < table.rows(); ++row) {
            by_name_[table.name(row)].push_back(row);
        }
    }

    [[nodiscard]] std::optional<std::size_t> find(Planner& planner, const PlannedLine& line,
                                                  const std::string& mode) const {
        const auto found = by_name_.find(name_of(line, mode));
        if (found == by_name_.end()) {
            return std::nullopt;
        }
        const Contents contents = planner.contents_of(line);
        const auto is_it = [&](std::size_t row) {
            return std::all_of(contents.begin(), contents.end(), [&](const auto& one) {
                return table_.content(row, one.first) == one.second;
            });
        };
        // what came last is of the newest version of the model
        const auto row = std::find_if(found->second.rbegin(), found->second.rend(), is_it);
        return row == found->second.rend() ? std::nullopt : std::optional(*row);
    }

private:
    const PointTable& table_;
    std::unordered_map<LineName, std::vector<std::size_t>> by_name_;
};

/// The text of all that a line has but its workload.
std::string text_without_workload(const PlannedLine& line) {
    std::vector<std::string> sets = sets_of(line.changes);
    std::sort(sets.begin(), sets.end());
    std::string text = line.machine;
    for (const std::string& set : sets) {
        text += '\n' + set;
    }
    return text;
}

/// Gives each a line for every workload that any has, in their order, and leaves out candidates that
/// come again.
void complete(std::vector<Candidate>& candidates) {
    std::set<std::size_t> workloads;
    for (const Candidate& candidate : candidates) {
        for (const Candidate::Line& line : candidate.lines) {
            workloads.insert(line.workload);
        }
    }
    std::set<std::vector<std::size_t>> known;
    std::erase_if(candidates, [&](Candidate& candidate) {
        std::map<std::size_t, Candidate::Line> by_workload;
        for (const std::size_t workload : workloads) {
            by_workload[workload].workload = workload;
        }
        for (const Candidate::Line& line : candidate.lines) {
            by_workload[line.workload] = line;
        }
        candidate.lines.clear();
        std::vector<std::size_t> rows;
        for (const auto& [workload, line] : by_workload) {
            candidate.lines.push_back(line);
            if (line.row) {
                rows.push_back(*line.row);
            }
        }
        return rows.size() == workloads.size() && !known.insert(std::move(rows)).second;
    });
}

} // namespace

std::vector<Candidate> candidates_of(Planner& planner, const SweepSpec& sweep,
                                     const PointTable& table) {
    const Rows rows(table);
    std::vector<std::string> workloads = sweep.workloads; // and those that only points name
    std::vector<Candidate> candidates;
    std::unordered_map<std::string, std::size_t> numbers;
    for (std::int64_t number = 0; number < planner.size(); ++number) {
        const PlannedLine line = planner.line(number);
        auto workload = std::find(workloads.begin(), workloads.end(), line.workload);
        if (workload == workloads.end()) {
            workload = workloads.insert(workload, line.workload);
        }
        // settings that only some workloads have are no difference between candidates
        const auto sample = planner.sample_of(number);
        const std::string what = sample ? line.machine + '\n' + std::to_string(*sample)
                                        : "\n" + text_without_workload(line);
        const auto [found, is_new] = numbers.try_emplace(what, candidates.size());
        if (is_new) {
            candidates.emplace_back();
        }
        candidates[found->second].lines.push_back(
            {static_cast<std::size_t>(workload - workloads.begin()), number,
             line.is_excluded ? std::nullopt : rows.find(planner, line, sweep.mode),
             line.is_excluded});
    }
    complete(candidates);
    return candidates;
}

std::vector<Candidate> candidates_in(const PointTable& table, const std::vector<std::size_t>& rows,
                                     const std::vector<std::string>& workloads) {
    std::vector<std::size_t> columns{PointTable::kMachine, PointTable::kMode};
    for (const std::string& path : table.changed()) {
        columns.push_back(*table.column(path));
    }
    std::map<std::uint32_t, std::size_t> by_label;
    const auto number_of = [&](std::size_t row) {
        const std::string& written = table.called(row, PointTable::kWorkload).written;
        const auto said = std::find(workloads.begin(), workloads.end(), written);
        const auto [found, is_new] = by_label.try_emplace(table.at(row, PointTable::kWorkload).word,
                                                          workloads.size() + by_label.size());
        return said != workloads.end() ? static_cast<std::size_t>(said - workloads.begin())
                                       : found->second;
    };
    std::vector<Candidate> candidates;
    std::unordered_map<std::string, std::size_t> numbers;
    for (const std::size_t row : rows) {
        const auto [found, is_new] =
            numbers.try_emplace(table.key_of(row, columns), candidates.size());
        if (is_new) {
            candidates.emplace_back();
        }
        candidates[found->second].lines.push_back({number_of(row), std::nullopt, row, false});
    }
    complete(candidates);
    return candidates;
}

std::vector<Candidate> candidates_of_older(const SweepSpec& sweep, const PointTable& table,
                                           const std::vector<std::size_t>& rows) {
    std::map<std::string, std::size_t> numbers;
    for (const std::string& workload : sweep.workloads) {
        if (!numbers.emplace(short_name(workload), numbers.size()).second) {
            throw IoError(fmt::format(
                "the lines of this store were written by an older version, which does not say "
                "which "
                "of the workloads called {} each is of; run the sweep again into another --store",
                in_quotes(short_name(workload))));
        }
    }
    std::vector<std::size_t> own;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(own), [&](std::size_t row) {
        return numbers.contains(short_name(table.called(row, PointTable::kWorkload).written));
    });
    std::vector<Candidate> candidates = candidates_in(table, own);
    for (Candidate& candidate : candidates) {
        std::vector<Candidate::Line> lines;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            lines.push_back({i, std::nullopt, std::nullopt, false});
        }
        for (const Candidate::Line& line : candidate.lines) {
            if (line.row) {
                lines[numbers.at(
                          short_name(table.called(*line.row, PointTable::kWorkload).written))]
                    .row = line.row;
            }
        }
        candidate.lines = std::move(lines);
    }
    return candidates;
}

std::vector<Candidate> among(std::vector<Candidate> candidates,
                             const std::vector<std::size_t>& rows) {
    const std::unordered_set<std::size_t> wanted(rows.begin(), rows.end());
    std::set<std::size_t> workloads;
    for (Candidate& candidate : candidates) {
        for (Candidate::Line& line : candidate.lines) {
            if (line.row && wanted.contains(*line.row)) {
                workloads.insert(line.workload);
            } else {
                line.row.reset();
            }
        }
    }
    for (Candidate& candidate : candidates) {
        std::erase_if(candidate.lines, [&](const Candidate::Line& line) {
            return !workloads.contains(line.workload);
        });
    }
    return candidates;
}

} // namespace tessera::sweep
