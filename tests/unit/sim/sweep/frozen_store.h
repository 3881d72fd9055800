// SPDX-License-Identifier: MIT
// A store in which a sweep was frozen, with points that a test makes up.
#pragma once

#include "models/machine_file/load.h"
#include "sim/cost/activity.h"
#include "sim/sweep/frozen.h"
#include "sim/sweep/source.h"
#include "tests/unit/base/config/scratch.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::test {

inline constexpr double kSeconds = 0.25;
inline constexpr double kFlops = 1e9;

/// An activity with another number of everything.
inline cost::Activity activity() {
    cost::Activity made;
    std::int64_t number = 1'000'000;
    for (const cost::Amount& amount : cost::kAmounts) {
        made.*amount.value = number += 1'234'567;
    }
    return made;
}

inline nlohmann::json result_of_run() {
    nlohmann::json result{{"cycles", 100}, {"seconds", kSeconds}, {"flops", kFlops}};
    for (const cost::Amount& amount : cost::kAmounts) {
        result["activity"][amount.key] = activity().*amount.value;
    }
    return result;
}

/// A store in which a sweep of a machine and a workload in files was frozen.
class FrozenStore {
public:
    FrozenStore() {
        static_cast<void>(folder_.write("m.json", R"({"schema_version": 1, "extends": "tiny",
            "name": "m", "energy": {"static_w": 3}, "memory": {"region0_bytes": 262144}})"));
        static_cast<void>(folder_.write(
            "w.json", R"({"schema_version": 1, "kind": "matmul", "m": 16, "k": 16, "n": 48})"));
        source_ = sweep::read_source({folder_.write("s.json", R"({"schema_version": 1,
            "machine": "./m.json", "workload": "./w.json"})"),
                                      {},
                                      {},
                                      {}},
                                     paths_);
        planner_.emplace(source_->sweep, source_->document, paths_, keys_);
        point_ = planner_->at(0);
        if (!point_.mistakes.empty()) {
            throw std::logic_error(point_.mistakes.front().text());
        }
        static_cast<void>(sweep::freeze(*source_, *planner_, paths_, folder_.path("store")));
        for (const char* const name : {"m.json", "w.json"}) { // the store has its own
            static_cast<void>(folder_.write(name, "{}"));
        }
    }
    /// Adds a line, the next row of tables.
    void add(const nlohmann::json& result, const nlohmann::json& changes = nlohmann::json::object(),
             const nlohmann::json& more = {}) {
        nlohmann::json line{{"key", key(lines_.size())},  {"status", "ok"},
                            {"machine", point_.machine},  {"workload", point_.workload},
                            {"mode", "timing"},           {"changes", changes},
                            {"contents", point_.contents}};
        if (!result.is_null()) {
            line["result"] = result;
        }
        if (more.is_object()) {
            line.update(more);
        }
        lines_.push_back(line.dump() + "\n");
        std::string all;
        for (const std::string& one : lines_) {
            all += one;
        }
        static_cast<void>(folder_.write("store/x.jsonl", all));
    }
    [[nodiscard]] std::string path() const { return folder_.path("store"); }
    [[nodiscard]] const config::ConfigPaths& configs() const { return paths_; }
    /// Of the n-th line that was added.
    [[nodiscard]] static std::string key(std::size_t number) {
        return sweep::sha256(std::to_string(number)).text();
    }
    /// The machine that was frozen, with settings.
    [[nodiscard]] spec::MachineSpec machine(const std::vector<std::string>& sets = {}) const {
        const auto file =
            sweep::FrozenNames(folder_.path("store"))
                .find(sweep::kMachinePath, point_.machine, point_.contents.at(sweep::kMachinePath));
        return machine_file::load(file.value(), paths_, sets).spec;
    }

private:
    ScratchFolder folder_;
    config::ConfigPaths paths_ = source_paths();
    sweep::PointKeys keys_{1};
    std::optional<sweep::Source> source_;
    std::optional<sweep::Planner> planner_;
    sweep::PlannedPoint point_;
    std::vector<std::string> lines_;
};

} // namespace tessera::test
