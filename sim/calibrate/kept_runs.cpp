// SPDX-License-Identifier: MIT
#include "sim/calibrate/kept_runs.h"

#include "base/config/paths.h"
#include "models/machine_file/load.h"

namespace tessera::calibrate {

KeptRuns::KeptRuns(const std::filesystem::path& folder, int model_version)
    : model_version_(model_version), writer_(folder) {
    sweep::for_each_point(folder, [&](const sweep::PointLine& point) {
        if (point.is_ok() && point.has("run") && point.has("result")) {
            results_[point.key()] = point.raw("result");
        }
    });
}

std::optional<nlohmann::json> KeptRuns::result_of(const Run& run) const {
    if (!run.vertex.empty()) {
        return std::nullopt;
    }
    const auto found = results_.find(key_of(run));
    return found == results_.end() ? std::nullopt
                                   : std::optional(nlohmann::json::parse(found->second));
}

void KeptRuns::keep(const Run& run, const nlohmann::json& result) {
    if (!run.vertex.empty()) {
        return;
    }
    const sweep::PointKey key = key_of(run);
    writer_.append({{"key", key.text()},
                    {"status", sweep::kOkStatus},
                    {"model", model_version_},
                    {"run", run.key()},
                    {"result", result}});
    results_[key] = result.dump();
}

sweep::PointKey KeptRuns::key_of(const Run& run) const {
    return sweep::PointKeys(model_version_)
        .of(machine_part(run), run.workload.dump(), "calibrate " + run.mode);
}

/// Every parameter: a machine's file may change between two calibrations.
const std::string& KeptRuns::machine_part(const Run& run) const {
    std::vector<std::string> named{run.machine};
    named.insert(named.end(), run.machine_sets.begin(), run.machine_sets.end());
    const auto [part, is_new] = machine_parts_.try_emplace(std::move(named));
    if (is_new) {
        part->second = sweep::PointKeys::part_of(
            machine_file::load(run.machine, config::default_config_paths(), run.machine_sets));
    }
    return part->second;
}

} // namespace tessera::calibrate
