// SPDX-License-Identifier: MIT
#include "sim/sweep/command/stored_point.h"

#include "base/config/paths.h"
#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"
#include "models/machine_file/load.h"
#include "sim/process/exit_code.h"
#include "sim/result/result.h"
#include "sim/sweep/frozen.h"
#include "sim/sweep/keyed_line.h"
#include "sim/sweep/labels.h"
#include "sim/sweep/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::sweep {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Stores that are looked into.
std::vector<std::string> stores_of(const cli::RunCommand& command) {
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

/// The line of a key, or of what it begins with.
KeyedLine line_of(const cli::RunCommand& command) {
    auto found = keyed_line(stores_of(command), command.point);
    if (!found) {
        throw cli::UsageError(fmt::format("run: --point: no key of {} begins with {}",
                                          command.store.empty() ? "the stores here" : command.store,
                                          in_quotes(command.point)));
    }
    if (!found->is_only) {
        throw cli::UsageError(
            fmt::format("run: --point: several keys begin with {}", in_quotes(command.point)));
    }
    return *std::move(found);
}

/// Where what a line names may be: what was frozen of the same content, what older versions froze
/// under that name, or as the line has it.
std::vector<std::string> candidates(const fs::path& store, const std::string& path,
                                    const std::string& name, const std::string& content) {
    std::vector<std::string> all;
    if (const auto frozen = FrozenNames(store).find(path, name, content)) {
        all.push_back(*frozen);
    }
    all.push_back(bytes_of(name));
    std::error_code error;
    for (fs::directory_iterator entry(store / "sweeps", error), end; !error && entry != end;
         entry.increment(error)) {
        const fs::path file = entry->path() / (path + "s") / (short_name(name) + ".json");
        std::error_code ignored;
        if (fs::exists(file, ignored)) {
            all.push_back(file.string());
        }
    }
    return all;
}

/// The settings of a line, those that name files with the files that were frozen.
std::vector<std::string> sets_of_line(const fs::path& store, const Json& line) {
    const Json contents = line.value("contents", Json::object());
    const FrozenNames frozen(store);
    Changes changes;
    const Json settings = line.value("changes", Json::object());
    for (const auto& [path, value] : settings.items()) {
        changes.push_back({path, value});
        if (contents.contains(path)) {
            const auto file =
                frozen.find(path, value.get<std::string>(), contents[path].get<std::string>());
            changes.back().value = file.value_or(value.get<std::string>());
        }
    }
    return sets_of(changes);
}

} // namespace

cli::RunCommand of_stored_point(cli::RunCommand command) {
    const KeyedLine found = line_of(command);
    const std::string& store = found.store;
    const Json& line = found.line;
    const config::ConfigPaths paths = config::default_config_paths();
    PointKeys keys(result::kModelVersion);
    const auto text = [&line = line](const char* key) { return line.value(key, std::string()); };
    const std::vector<std::string> own_sets = sets_of_line(store, line);
    const auto sets = catalog::split_overrides(own_sets);
    const Json contents = line.value("contents", Json::object());
    const auto content = [&](const char* path) { return contents.value(path, std::string()); };
    if (line.value("model", 0) != result::kModelVersion) {
        process::tell_warning(fmt::format("the point is of model version {}, this program is of {}",
                                          line.value("model", 0), result::kModelVersion));
    }
    const PointKeys keys_then(line.value("model", result::kModelVersion));
    for (const std::string& machine :
         candidates(store, kMachinePath, text("machine"), content("machine"))) {
        for (const std::string& workload :
             candidates(store, kWorkloadPath, text("workload"), content("workload"))) {
            try {
                const std::string machine_part =
                    PointKeys::part_of(machine_file::load(machine, paths, sets.machine));
                const auto loaded = catalog::load_workload(workload, paths, sets.workload);
                const std::string workload_part =
                    contents.empty() ? keys.older_part_of(loaded) : keys.part_of(loaded);
                if (keys_then.of(machine_part, workload_part, text("mode")).text() != text("key")) {
                    continue;
                }
            } catch (const std::runtime_error&) { // gone, or no longer right
                continue;
            }
            command.workloads = {workload};
            command.machine = machine;
            std::vector<std::string> all = own_sets;
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

} // namespace tessera::sweep
