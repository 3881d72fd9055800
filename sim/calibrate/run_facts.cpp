// SPDX-License-Identifier: MIT
#include "sim/calibrate/run_facts.h"

#include <algorithm>

namespace tessera::calibrate {
namespace {

using nlohmann::json;

void add_steps(RunFacts& facts, const json& result, const char* list) {
    for (const json& step : result.value(list, json::array())) {
        facts.by_step.push_back({step.at("name").get<std::string>(), step.at("cycles")});
        facts.steps += step.at("executions").get<double>();
    }
}

} // namespace

RunFacts facts_of(const json& result) {
    RunFacts facts{.cycles = result.at("cycles"), .sync_cycles = {}, .by_step = {}};
    if (result.contains("worker_cycles")) {
        const double workers = result.at("worker_cycles");
        facts.by_step = {{"slowest worker", workers}, {"supervisor", facts.cycles - workers}};
    } else {
        for (const char* list : {"compute_sets", "exchanges", "streams"}) {
            add_steps(facts, result, list);
        }
        double words = 0;
        for (const json& exchange : result.value("exchanges", json::array())) {
            words += exchange.at("words").get<double>();
        }
        facts.words_per_tile = words / result.at("machine").at("chip").at("tiles").get<double>();
        facts.sync_cycles = result.at("phases").at("sync").get<double>();
        facts.by_step.push_back({"sync", *facts.sync_cycles});
    }
    std::stable_sort(
        facts.by_step.begin(), facts.by_step.end(),
        [](const auto& left, const auto& right) { return left.cycles > right.cycles; });
    return facts;
}

} // namespace tessera::calibrate
