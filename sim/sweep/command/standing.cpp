// SPDX-License-Identifier: MIT
#include "sim/sweep/command/standing.h"

#include "models/machine_file/load.h"
#include "sim/sweep/command/result_paths.h"
#include "sim/sweep/frozen.h"
#include "sim/sweep/judge.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace tessera::sweep {

using Json = nlohmann::json;

std::vector<Objective> objectives_of(const SweepSpec& sweep) {
    return sweep.objectives.empty() ? std::vector<Objective>{{"cycles", false, {}, {}}}
                                    : sweep.objectives;
}

void fill_parameters(PointTable& table, const std::vector<std::string>& paths,
                     const std::filesystem::path& store, const config::ConfigPaths& configs) {
    const FrozenNames frozen(store);
    std::map<std::pair<std::string, Called>, Json> loaded;
    const auto load = [&](const char* kind, const Called& called) -> const Json& {
        const auto [known, is_new] = loaded.try_emplace({kind, called});
        const auto file = frozen.find(kind, called.written, called.content);
        if (is_new && file) {
            known->second = kind == kMachinePath ? machine_file::load(*file, configs).resolved
                                                 : catalog::load_workload(*file, configs).resolved;
        }
        return known->second;
    };
    for (const std::string& path : paths) {
        if (!is_parameter(path) || is_result_path(path)) {
            continue;
        }
        const bool of_workload = path.rfind(catalog::kSetPrefix, 0) == 0;
        const std::size_t column = of_workload ? PointTable::kWorkload : PointTable::kMachine;
        std::string pointer =
            "/" + path.substr(of_workload ? std::string(catalog::kSetPrefix).size() : 0);
        std::replace(pointer.begin(), pointer.end(), '.', '/');
        const Json::json_pointer at(pointer);
        for (std::size_t row = 0; row < table.rows(); ++row) {
            const Json& config =
                load(of_workload ? kWorkloadPath : kMachinePath, table.called(row, column));
            if (config.is_object() && config.contains(at)) {
                table.set(row, path, config.at(at));
            }
        }
    }
}

BestPoints best_points(const std::filesystem::path& store, const SweepSpec& sweep,
                       std::vector<Condition>& constraints, Planner& planner,
                       const config::ConfigPaths& configs, double percent) {
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
    PointTable table(store, paths);
    fill_parameters(table, paths, store, configs);
    const auto candidates = candidates_of(planner, sweep, table);
    const std::vector<Judged> judged = judge(table, candidates, objectives, constraints);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < judged.size(); ++i) {
        if (judged[i].is_compared()) {
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
        for (const Candidate::Line& line : judged[one].candidate->lines) {
            best.push_back(*line.number);
        }
    }
    std::sort(best.begin(), best.end());
    return {std::move(best), left_out(table, judged, true)};
}

} // namespace tessera::sweep
