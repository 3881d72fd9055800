// SPDX-License-Identifier: MIT
// The one place where the bench meets the assembler.
#pragma once

#include "models/isa/assembler.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tessera::vertex {

/// A source, or words that are to be disassembled: many times what a tile holds.
inline constexpr std::size_t kMostSourceBytes = std::size_t{16} << 20U;

struct AssemblyRequest {
    std::vector<std::string> files;
    std::vector<std::string> include_directories;
    std::vector<std::pair<std::string, std::string>> defines; ///< preprocessor macros: name, text
    Address address = 0;
    Address data_address = 0; ///< of the sections that hold only data
};

/// Reads and links the files. @throws ConfigError, IoError
/// With a tally, symbols that no source defines are 0 where only instructions use them, and are
/// listed there.
[[nodiscard]] program::Codelet assemble_files(const spec::MachineSpec& machine,
                                              const AssemblyRequest& request,
                                              isa::AssemblyTally* tally = nullptr);

/// Assembles text of ours that runs at `address`.
[[nodiscard]] program::Codelet assemble_text(const spec::MachineSpec& machine,
                                             const std::string& text, Address address);

} // namespace tessera::vertex
