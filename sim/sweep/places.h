// SPDX-License-Identifier: MIT
// Where the machines, workloads and files are that a sweep names. What a file names is relative to
// that file, what a command line names to the working folder.
#pragma once

#include "base/config/document.h"
#include "base/config/paths.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <utility>

namespace tessera::sweep {

/// Paths under which a sweep names its machines and workloads, beside the paths of parameters.
inline constexpr const char* kMachinePath = "machine";
inline constexpr const char* kWorkloadPath = "workload";

/// Whether the parameter at `path` names a file where its value is `value`.
[[nodiscard]] bool names_file(const std::string& path, const nlohmann::json& value);

class Places {
public:
    struct Place {
        std::string file;       ///< to read; a name for machines and workloads that are looked up
        std::string content;    ///< a digest, where it is known without reading the file
        bool is_sought = false; ///< below data/ of the configs folders too
        Diagnostic where;       ///< where the sweep names it, for what is missing
    };

    /// `path`: of a parameter, or kMachinePath, kWorkloadPath. False where the same text already
    /// leads to another file.
    bool add(const std::string& path, const std::string& written, Place place);
    void replace(const std::string& path, const std::string& written, Place place) {
        places_[{path, written}] = std::move(place);
    }
    /// Null for what the sweep does not name: points that are asked for one by one.
    [[nodiscard]] const Place* find(const std::string& path, const std::string& written) const;
    /// The file, or `written` itself for what the sweep does not name. @throws IoError where a
    /// parameter's file is not there
    [[nodiscard]] std::string file_of(const std::string& path, const std::string& written,
                                      const config::ConfigPaths& paths) const;
    [[nodiscard]] const std::map<std::pair<std::string, std::string>, Place>& all() const {
        return places_;
    }

private:
    std::map<std::pair<std::string, std::string>, Place> places_;
};

} // namespace tessera::sweep
