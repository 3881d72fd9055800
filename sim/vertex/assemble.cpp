// SPDX-License-Identifier: MIT
#include "sim/vertex/assemble.h"

#include "kernels/workload/file_io.h"
#include "models/isa/assembler.h"

namespace tessera::vertex {
namespace {

isa::Target target_of(const spec::MachineSpec& machine) {
    isa::Target target;
    target.architecture = machine.chip.generation == spec::Generation::Ipu1   ? 1
                          : machine.chip.generation == spec::Generation::Ipu2 ? 2
                                                                              : 21;
    target.workers = machine.tile.workers;
    target.memory_base = machine.memory.region0_begin();
    target.region0_bytes = static_cast<std::uint32_t>(machine.memory.region0_bytes);
    target.region1_bytes = static_cast<std::uint32_t>(machine.memory.region1_bytes);
    target.element_bytes = static_cast<std::uint32_t>(machine.memory.element_bytes);
    return target;
}

} // namespace

program::Codelet assemble_files(const spec::MachineSpec& machine, const AssemblyRequest& request) {
    std::vector<isa::SourceFile> sources;
    for (const auto& file : request.files) {
        sources.push_back({file, workload::read_file(file)});
    }
    isa::AssemblyOptions options = isa::options_for(target_of(machine));
    options.include_directories.assign(request.include_directories.begin(),
                                       request.include_directories.end());
    options.defines = request.defines;
    options.data_address = request.data_address;
    return isa::assemble("vertex", sources, request.address, options);
}

program::Codelet assemble_text(const spec::MachineSpec& machine, const std::string& text,
                               Address address) {
    return isa::assemble("stub", {{"stub", text}}, address, isa::options_for(target_of(machine)));
}

} // namespace tessera::vertex
