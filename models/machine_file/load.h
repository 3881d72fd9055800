// SPDX-License-Identifier: MIT
// Machine files for use: what models/spec reads and checks field by field, and the rules that need a
// model of the machine: routes between chips end, and no packets wait for each other in a circle.
#pragma once

#include "base/config/paths.h"
#include "base/error.h"
#include "models/spec/load.h"

#include <string>
#include <vector>

namespace tessera::machine_file {

/// The mistakes in the routes of a machine, at their values in `document`.
[[nodiscard]] std::vector<Diagnostic> check_links(const spec::MachineSpec& machine,
                                                  const config::Document& document);

/// Does what spec::load_machine does, and check_links().
/// @throws ConfigError with all mistakes; IoError if a file cannot be read
[[nodiscard]] spec::LoadedMachine load(const std::string& name_or_path,
                                       const config::ConfigPaths& paths,
                                       const std::vector<std::string>& set_overrides = {});
[[nodiscard]] spec::LoadedMachine load(spec::MachineFiles files,
                                       const std::vector<std::string>& set_overrides);

} // namespace tessera::machine_file
