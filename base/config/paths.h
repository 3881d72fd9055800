// SPDX-License-Identifier: MIT
// Where configs/ folders are, and names looked up in them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::config {

/// Roots with the layout of configs/ (machines/, workloads/, data/); the first that has a name
/// wins.
struct ConfigPaths {
    std::vector<std::filesystem::path> roots;
};

/// The folders of TESSERA_CONFIGS (separated by ':'), ./configs, ../share/tessera/configs beside
/// the program's folder, and the configs/ of the source tree that built it: those that exist.
/// ConfigError if a folder named by TESSERA_CONFIGS does not.
[[nodiscard]] ConfigPaths default_config_paths();

struct ConfigEntry {
    std::string name;
    std::filesystem::path file;
};

/// All names of a kind ("machines", "workloads"), sorted, each with the file that a look-up would
/// take.
[[nodiscard]] std::vector<ConfigEntry> list_configs(const ConfigPaths& paths,
                                                    const std::string& kind);

/// True for a path, false for a name. A path has a '/', ends in ".json", or names a matrix file
/// (is_matrix_file).
[[nodiscard]] bool is_path(const std::string& name_or_path);

/// True for a file that holds a matrix: its name ends in ".mtx", ".smtx" or ".npy", in one of these
/// and ".gz", or in ".npz" or ".safetensors".
[[nodiscard]] bool is_matrix_file(std::string_view path);

/// The file of a name; empty if no root has it.
[[nodiscard]] std::optional<std::filesystem::path>
find_name(const ConfigPaths& paths, const std::string& kind, const std::string& name);

/// The file of a name or path given on the command line. A path is returned as it is, whether
/// or not the file exists; an unknown name is a ConfigError with the nearest one. `what` is
/// "machine" or "workload".
[[nodiscard]] std::filesystem::path find_config(const ConfigPaths& paths, const std::string& kind,
                                                const std::string& what,
                                                const std::string& name_or_path);

/// The hint for an unknown name: the nearest one, or the list of all.
[[nodiscard]] std::string name_hint(const ConfigPaths& paths, const std::string& kind,
                                    const std::string& name);

} // namespace tessera::config
