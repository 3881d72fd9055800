// SPDX-License-Identifier: MIT
#include "sim/sweep/planned_files.h"

#include "models/machine_file/load.h"

#include <exception>
#include <utility>

namespace tessera::sweep {

std::string PlannedFiles::content_of(const std::string& path, const std::string& written) {
    return *contents_.get(path + '\n' + written, [&] {
        const Places::Place* const place = sweep_.places.find(path, written);
        if (place != nullptr && !place->content.empty()) {
            return place->content;
        }
        const std::string file = file_of(path, written);
        return path == kMachinePath    ? PointKeys::content_of(*machine_files(file))
               : path == kWorkloadPath ? workload_content(file)
                                       : keys_.content_of(file);
    });
}

const nlohmann::json& PlannedFiles::base_machine(const std::string& name) {
    return *machine_bases_.get(
        name, [&] { return machine_file::load(file_of(kMachinePath, name), paths_).resolved; });
}
const nlohmann::json& PlannedFiles::base_workload(const std::string& name) {
    return *workload_bases_.get(name, [&] {
        return catalog::load_workload(file_of(kWorkloadPath, name), paths_).resolved;
    });
}

std::string PlannedFiles::workload_content(const std::string& name) {
    const auto document = workload_document(name);
    try {
        return keys_.content_of(*document, catalog::load_workload(name, paths_).inputs);
    } catch (const std::runtime_error&) { // only settings make it right
        return keys_.content_of(*document, {});
    }
}

const std::shared_ptr<const spec::MachineFiles>&
PlannedFiles::machine_files(const std::string& file) {
    return machine_files_.get(file, [&] { return spec::read_machine(file, paths_); });
}

const std::shared_ptr<const config::Document>&
PlannedFiles::workload_document(const std::string& name) {
    return workload_files_.get(name, [&] {
        return catalog::read_workload(config::find_config(paths_, "workloads", "workload", name));
    });
}

Loaded PlannedFiles::load(const std::string& machine_file, const std::string& workload_file,
                          const std::vector<std::string>& set) {
    const auto sets = catalog::split_overrides(set);
    const auto key_of = [](std::string key, const std::vector<std::string>& given) {
        for (const std::string& one : given) {
            key += '\n' + one;
        }
        return key;
    };
    return {machines_.get(key_of(machine_file, sets.machine),
                          [&] {
                              auto loaded =
                                  machine_file::load(*machine_files(machine_file), sets.machine);
                              std::string text = PointKeys::part_of(loaded);
                              return Part<spec::LoadedMachine>{std::move(loaded), std::move(text)};
                          }),
            workloads_.get(key_of(workload_file, sets.workload), [&] {
                const auto file =
                    config::find_config(paths_, "workloads", "workload", workload_file);
                auto loaded = catalog::load_workload(*workload_document(workload_file), file,
                                                     paths_, sets.workload);
                std::string text = keys_.part_of(loaded);
                return Part<catalog::LoadedWorkload>{std::move(loaded), std::move(text)};
            })};
}

} // namespace tessera::sweep
