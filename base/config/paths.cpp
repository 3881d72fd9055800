// SPDX-License-Identifier: MIT
#include "base/config/paths.h"

#include "base/config/suggest.h"
#include "base/error.h"

#include <cstdlib>
#include <map>
#include <system_error>

namespace tessera::config {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

void add_environment(ConfigPaths& paths) {
    const char* given = std::getenv("TESSERA_CONFIGS");
    std::string rest = given == nullptr ? "" : given;
    std::vector<Diagnostic> found;
    while (!rest.empty()) {
        const auto colon = rest.find(':');
        const std::string root = rest.substr(0, colon);
        rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
        if (root.empty()) {
            continue;
        }
        if (!is_folder(root)) {
            found.push_back({"TESSERA_CONFIGS", 0, 0, "",
                             "got '" + root + "', expected a folder with machines/ and workloads/",
                             ""});
        }
        paths.roots.emplace_back(root);
    }
    if (!found.empty()) {
        throw ConfigError(std::move(found));
    }
}

} // namespace

ConfigPaths default_config_paths() {
    ConfigPaths paths;
    add_environment(paths);
    std::vector<fs::path> usual{"configs"};
    std::error_code failed;
    const fs::path program = fs::read_symlink("/proc/self/exe", failed);
    if (!failed) {
        usual.push_back(program.parent_path().parent_path() / "share" / "tessera" / "configs");
    }
    usual.emplace_back(TESSERA_SOURCE_CONFIGS);
    for (const auto& root : usual) {
        if (is_folder(root)) {
            paths.roots.push_back(root);
        }
    }
    return paths;
}

std::vector<ConfigEntry> list_configs(const ConfigPaths& paths, const std::string& kind) {
    std::map<std::string, fs::path> by_name;
    for (const auto& root : paths.roots) {
        std::error_code failed;
        for (const auto& entry : fs::directory_iterator(root / kind, failed)) {
            if (entry.path().extension() == ".json") {
                by_name.emplace(entry.path().stem().string(), entry.path());
            }
        }
    }
    std::vector<ConfigEntry> out;
    for (auto& [name, file] : by_name) {
        out.push_back({name, file});
    }
    return out;
}

bool is_path(const std::string& name_or_path) {
    return name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json") ||
           is_matrix_file(name_or_path);
}

bool is_matrix_file(std::string_view path) {
    constexpr std::string_view kPacked = ".gz";
    if (path.ends_with(".npz") || path.ends_with(".safetensors")) {
        return true;
    }
    if (path.ends_with(kPacked)) {
        path.remove_suffix(kPacked.size());
    }
    return path.ends_with(".mtx") || path.ends_with(".smtx") || path.ends_with(".npy");
}

std::optional<fs::path> find_name(const ConfigPaths& paths, const std::string& kind,
                                  const std::string& name) {
    for (const auto& root : paths.roots) {
        const fs::path file = root / kind / (name + ".json");
        std::error_code ignored;
        if (fs::exists(file, ignored)) {
            return file;
        }
    }
    return std::nullopt;
}

std::string name_hint(const ConfigPaths& paths, const std::string& kind, const std::string& name) {
    std::vector<std::string> known;
    std::string all;
    for (const auto& entry : list_configs(paths, kind)) {
        known.push_back(entry.name);
        all += (all.empty() ? "" : ", ") + entry.name;
    }
    const std::string near = did_you_mean(name, known);
    if (!near.empty()) {
        return near;
    }
    return all.empty() ? "no " + kind + " found; set TESSERA_CONFIGS to a configs folder"
                       : "known: " + all;
}

fs::path find_config(const ConfigPaths& paths, const std::string& kind, const std::string& what,
                     const std::string& name_or_path) {
    if (is_path(name_or_path)) {
        return name_or_path;
    }
    if (auto file = find_name(paths, kind, name_or_path)) {
        return *file;
    }
    throw ConfigError(Diagnostic{"", 0, 0, "", "unknown " + what + " '" + name_or_path + "'",
                                 name_hint(paths, kind, name_or_path)});
}

} // namespace tessera::config
