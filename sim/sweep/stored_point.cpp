// SPDX-License-Identifier: MIT
#include "sim/sweep/stored_point.h"

#include "base/config/paths.h"
#include "base/error.h"
#include "base/text.h"
#include "sim/exit_code.h"
#include "sim/result.h"
#include "sim/sweep/planner.h"
#include "sim/sweep/point_table.h"
#include "sim/sweep/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tessera::sim {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Stores that are looked into.
std::vector<std::string> stores_of(const RunCommand& command) {
    if (!command.store.empty()) {
        return {command.store};
    }
    std::vector<std::string> stores;
    std::error_code error;
    for (fs::directory_iterator entry(".", error), end; !error && entry != end;
         entry.increment(error)) {
        if (entry->path().extension() == ".sweep") {
            stores.push_back(entry->path().filename().string());
        }
    }
    std::sort(stores.begin(), stores.end());
    return stores;
}

struct StoredLine {
    std::string store;
    Json line;
};

/// The line of a key, or of what it begins with.
StoredLine line_of(const RunCommand& command) {
    std::optional<sweep::PointKey> found;
    StoredLine stored;
    for (const std::string& store : stores_of(command)) {
        sweep::for_each_point(store, [&](const sweep::PointLine& point) {
            if (point.key().text().rfind(command.point, 0) != 0) {
                return;
            }
            if (found && *found != point.key()) {
                throw UsageError(fmt::format("run: --point: several keys begin with {}",
                                             in_quotes(command.point)));
            }
            found = point.key();
            stored = {store, Json::parse(point.text())};
        });
    }
    if (!found) {
        throw UsageError(fmt::format("run: --point: no key of {} begins with {}",
                                     command.store.empty() ? "the stores here" : command.store,
                                     in_quotes(command.point)));
    }
    return stored;
}

/// As the point has it, then what was frozen under that name.
std::vector<std::string> candidates(const fs::path& store, const std::string& kind,
                                    const std::string& name) {
    std::vector<std::string> all{name};
    std::error_code error;
    for (fs::directory_iterator entry(store / "sweeps", error), end; !error && entry != end;
         entry.increment(error)) {
        const fs::path file = entry->path() / kind / (sweep::short_name(name) + ".json");
        std::error_code ignored;
        if (fs::exists(file, ignored)) {
            all.push_back(file.string());
        }
    }
    return all;
}

} // namespace

RunCommand of_stored_point(RunCommand command) {
    const auto [store, line] = line_of(command);
    const config::ConfigPaths paths = config::default_config_paths();
    sweep::PointKeys keys(kModelVersion);
    const auto text = [&line = line](const char* key) { return line.value(key, std::string()); };
    sweep::PlannedPoint point;
    const Json changes = line.value("changes", Json::object());
    for (const auto& [path, value] : changes.items()) {
        point.changes.push_back({path, value});
    }
    const auto sets = catalog::split_overrides(sweep::sets_of(point.changes));
    if (line.value("model", 0) != kModelVersion) {
        tell_warning(fmt::format("the point is of model version {}, this program is of {}",
                                 line.value("model", 0), kModelVersion));
    }
    const sweep::PointKeys keys_then(line.value("model", kModelVersion));
    for (const std::string& machine : candidates(store, "machines", text("machine"))) {
        for (const std::string& workload : candidates(store, "workloads", text("workload"))) {
            try {
                const std::string machine_part =
                    sweep::PointKeys::part_of(spec::load_machine(machine, paths, sets.machine));
                const std::string workload_part =
                    keys.part_of(catalog::load_workload(workload, paths, sets.workload));
                if (keys_then.of(machine_part, workload_part, text("mode")).text() != text("key")) {
                    continue;
                }
            } catch (const std::runtime_error&) { // gone, or no longer right
                continue;
            }
            command.workloads = {workload};
            command.machine = machine;
            std::vector<std::string> all = sweep::sets_of(point.changes);
            all.insert(all.end(), command.sets.begin(), command.sets.end());
            command.sets = std::move(all);
            if (command.mode.empty()) {
                command.mode = text("mode");
            }
            return command;
        }
    }
    throw IoError(fmt::format("the files of the point have changed since: machine {}, workload {}",
                              in_quotes(text("machine")), in_quotes(text("workload"))));
}

} // namespace tessera::sim
