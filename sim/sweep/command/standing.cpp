// SPDX-License-Identifier: MIT
#include "sim/sweep/command/standing.h"

#include "sim/sweep/command/reckoned.h"
#include "sim/sweep/judge.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tessera::sweep {

std::vector<Objective> objectives_of(const SweepSpec& sweep) {
    return sweep.objectives.empty() ? std::vector<Objective>{{"cycles", false, {}, {}}}
                                    : sweep.objectives;
}

BestPoints best_points(const std::filesystem::path& store, const SweepSpec& sweep,
                       std::vector<Condition>& constraints, std::vector<MetricColumn>& metrics,
                       Planner& planner, const config::ConfigPaths& configs, double percent) {
    const std::vector<Objective> objectives = objectives_of(sweep);
    std::vector<std::string> paths;
    for (const Objective& objective : objectives) {
        paths.push_back(objective.path);
    }
    for (const Condition& condition : constraints) {
        paths.insert(paths.end(), condition.names().begin(), condition.names().end());
    }
    for (const char* path : {kEmptyMatrices, "message", "note"}) {
        paths.emplace_back(path);
    }
    paths = with_needs(std::move(paths), metrics);
    PointTable table(store, paths);
    reckon(table, paths, metrics, store, configs);
    const auto candidates = candidates_of(planner, sweep, table);
    const std::vector<Judged> judged = judge(table, candidates, objectives, constraints);
    std::vector<std::size_t> order(judged.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::erase_if(order, [&](std::size_t one) { return !judged[one].is_compared(); });
    std::vector<std::size_t> ranks(judged.size(), 0);
    for (std::size_t i = 0; i < objectives.size(); ++i) {
        std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
            return is_better(objectives[i], judged[one].values[i], judged[other].values[i]);
        });
        for (std::size_t rank = 0; rank < order.size(); ++rank) {
            ranks[order[rank]] += rank;
        }
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t one, std::size_t other) { return ranks[one] < ranks[other]; });
    const auto most =
        static_cast<std::size_t>(std::ceil(static_cast<double>(judged.size()) * percent / 100));
    order.resize(std::min(order.size(), most));
    std::vector<std::int64_t> best;
    for (const std::size_t one : order) {
        for (const Candidate::Line& line : judged[one].candidate->lines) {
            best.push_back(*line.number);
        }
    }
    std::sort(best.begin(), best.end());
    return {std::move(best), left_out(table, judged, true)};
}

} // namespace tessera::sweep
