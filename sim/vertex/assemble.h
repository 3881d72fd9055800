// SPDX-License-Identifier: MIT
// The one place where the bench meets the assembler.
#pragma once

#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tessera::vertex {

struct AssemblyRequest {
    std::vector<std::string> files;
    std::vector<std::string> include_directories;
    std::map<std::string, std::int64_t> defines;
    Address address = 0;
};

/// Reads and links the files. @throws ConfigError, IoError
[[nodiscard]] program::Codelet assemble_files(const spec::MachineSpec& machine,
                                              const AssemblyRequest& request);

/// Assembles text of ours that runs at `address`.
[[nodiscard]] program::Codelet assemble_text(const spec::MachineSpec& machine,
                                             const std::string& text, Address address);

} // namespace tessera::vertex
