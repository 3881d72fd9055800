// SPDX-License-Identifier: MIT
// The files that points of a sweep name, read once for all points that name them.
#pragma once

#include "base/config/paths.h"
#include "base/config/read.h"
#include "kernels/catalog/load.h"
#include "models/spec/load.h"
#include "sim/sweep/point_key.h"
#include "sim/sweep/sweep_file.h"

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tessera::sweep {

/// What points have in common is not made again for each: kept until there is too much of it.
template <class Value> class Kept {
public:
    template <class Make>
    const std::shared_ptr<const Value>& get(const std::string& key, const Make& make) {
        const auto found = values_.find(key);
        if (found != values_.end()) {
            return found->second;
        }
        constexpr std::size_t kMost = 256;
        if (values_.size() == kMost) {
            values_.clear();
        }
        return values_.emplace(key, std::make_shared<const Value>(make())).first->second;
    }

private:
    std::unordered_map<std::string, std::shared_ptr<const Value>> values_;
};

template <class Config> struct Part {
    Config loaded;
    std::string text; ///< in keys
};

struct Loaded {
    std::shared_ptr<const Part<spec::LoadedMachine>> machine;
    std::shared_ptr<const Part<catalog::LoadedWorkload>> workload;
};

class PlannedFiles {
public:
    /// All outlive the object.
    PlannedFiles(const SweepSpec& sweep, const config::ConfigPaths& paths, PointKeys& keys)
        : sweep_(sweep), paths_(paths), keys_(keys) {}

    /// The file that a path's value names. @throws ConfigError, IoError, here and below
    [[nodiscard]] std::string file_of(const std::string& path, const std::string& name) const {
        return sweep_.places.file_of(path, name, paths_);
    }
    /// What makes the file different from others.
    [[nodiscard]] std::string content_of(const std::string& path, const std::string& written);
    /// A machine and a workload as they are, without settings.
    [[nodiscard]] const nlohmann::json& base_machine(const std::string& name);
    [[nodiscard]] const nlohmann::json& base_workload(const std::string& name);
    /// Both with settings.
    [[nodiscard]] Loaded load(const std::string& machine_file, const std::string& workload_file,
                              const std::vector<std::string>& sets);

private:
    [[nodiscard]] std::string workload_content(const std::string& name);
    [[nodiscard]] const std::shared_ptr<const spec::MachineFiles>&
    machine_files(const std::string& file);
    [[nodiscard]] const std::shared_ptr<const config::Document>&
    workload_document(const std::string& name);

    const SweepSpec& sweep_;
    const config::ConfigPaths& paths_;
    PointKeys& keys_;
    Kept<spec::MachineFiles> machine_files_;
    Kept<config::Document> workload_files_;
    Kept<nlohmann::json> machine_bases_;
    Kept<nlohmann::json> workload_bases_;
    Kept<std::string> contents_;
    Kept<Part<spec::LoadedMachine>> machines_;
    Kept<Part<catalog::LoadedWorkload>> workloads_;
};

} // namespace tessera::sweep
