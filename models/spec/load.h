// SPDX-License-Identifier: MIT
// Machine files: configs/machines/<name>.json -> MachineSpec.
#pragma once

#include "base/config/document.h"
#include "base/config/paths.h"
#include "base/config/shape.h"
#include "models/spec/machine_spec.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::spec {

struct LoadedMachine {
    MachineSpec spec;
    nlohmann::json resolved; ///< every parameter; a machine file that gives the same spec
    config::Origins origins; ///< of the values that a file or --set gave
    std::vector<std::filesystem::path> files; ///< the one asked for, then those that it extends
};

/// The files of a machine, read and merged, before options. To load many variants, read them once.
struct MachineFiles {
    config::Document whole;
    std::vector<std::filesystem::path> files;
    std::vector<Diagnostic> mistakes; ///< in the files alone, without options
};
/// @throws ConfigError if there is no such name; IoError if a file cannot be read
[[nodiscard]] MachineFiles read_machine(const std::string& name_or_path,
                                        const config::ConfigPaths& paths);
/// @throws ConfigError as below
[[nodiscard]] LoadedMachine load_machine(MachineFiles files,
                                         const std::vector<std::string>& set_overrides);

/// Reads a machine by name (looked up in `paths`) or path. Its values replace those of the machines
/// that it `extends`, and the `path=value` overrides replace both. An override of a value that the
/// machine does not use is a mistake. Throws ConfigError with all mistakes of all files and
/// overrides; IoError if a file cannot be read.
[[nodiscard]] LoadedMachine load_machine(const std::string& name_or_path,
                                         const config::ConfigPaths& paths,
                                         const std::vector<std::string>& set_overrides = {});

/// The rules between fields (memory map, matrix unit, tile pairs), as mistakes at the values in
/// `document`.
[[nodiscard]] std::vector<Diagnostic> check_rules(const MachineSpec& machine,
                                                  const config::Document& document);

/// The description of a machine file, for listings.
[[nodiscard]] const config::Shape& machine_shape();

/// What configs/schemas/machine.schema.json holds.
[[nodiscard]] nlohmann::json machine_schema();

} // namespace tessera::spec
