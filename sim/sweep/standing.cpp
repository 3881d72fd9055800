// SPDX-License-Identifier: MIT
#include "sim/sweep/standing.h"

#include "sim/sweep/judge.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace tessera::sweep {

std::vector<Objective> objectives_of(const SweepSpec& sweep) {
    return sweep.objectives.empty() ? std::vector<Objective>{{"cycles", false, {}, {}}}
                                    : sweep.objectives;
}

std::vector<std::int64_t> best_points(const std::filesystem::path& store, const SweepSpec& sweep,
                                      std::vector<Condition>& constraints, const Plan& plan,
                                      double percent) {
    const std::vector<Objective> objectives = objectives_of(sweep);
    std::vector<std::string> paths;
    for (const Objective& objective : objectives) {
        paths.push_back(objective.path);
    }
    for (const Condition& condition : constraints) {
        paths.insert(paths.end(), condition.names().begin(), condition.names().end());
    }
    PointTable table(store, paths);
    std::unordered_map<PointKey, std::int64_t, PointKey::Hash> numbers;
    for (const Plan::Point& point : plan.points) {
        numbers.emplace(point.key, point.number);
    }
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        if (numbers.contains(table.key(row))) {
            rows.push_back(row);
        }
    }
    const std::vector<Judged> judged = judge(table, rows, objectives, constraints);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < judged.size(); ++i) {
        if (judged[i].is_whole() && judged[i].keeps_constraints) {
            order.push_back(i);
        }
    }
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
        for (const std::size_t row : judged[one].rows) {
            best.push_back(numbers.at(table.key(row)));
        }
    }
    std::sort(best.begin(), best.end());
    return best;
}

} // namespace tessera::sweep
