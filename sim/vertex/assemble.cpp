// SPDX-License-Identifier: MIT
#include "sim/vertex/assemble.h"

#include "kernels/workload/file_io.h"
#include "models/isa/assembler.h"

namespace tessera::vertex {

program::Codelet assemble_files(const spec::MachineSpec& machine, const AssemblyRequest& request) {
    std::vector<isa::SourceFile> sources;
    for (const auto& file : request.files) {
        sources.push_back({file, workload::read_file(file)});
    }
    isa::Constants constants = isa::standard_constants(machine.tile.workers);
    for (const auto& [name, value] : request.defines) {
        constants[name] = value;
    }
    return isa::assemble("vertex", sources, request.address, constants);
}

program::Codelet assemble_text(const spec::MachineSpec& machine, const std::string& text,
                               Address address) {
    return isa::assemble("stub", {{"stub", text}}, address,
                         isa::standard_constants(machine.tile.workers));
}

} // namespace tessera::vertex
