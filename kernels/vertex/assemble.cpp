// SPDX-License-Identifier: MIT
#include "kernels/vertex/assemble.h"

#include "base/input_file.h"
#include "models/isa/assembler.h"
#include "models/isa/machine_target.h"

#include <algorithm>

namespace tessera::vertex {

program::Codelet assemble_files(const spec::MachineSpec& machine, const AssemblyRequest& request,
                                isa::AssemblyTally* tally) {
    std::vector<isa::SourceFile> sources;
    for (const auto& file : request.files) {
        sources.push_back({file, read_file(file, kMostSourceBytes, "an assembly source")});
    }
    isa::AssemblyOptions options = isa::options_for(isa::target_of(machine));
    options.include_directories.assign(request.include_directories.begin(),
                                       request.include_directories.end());
    options.defines = request.defines;
    options.data_address = request.data_address;
    options.allow_undefined = tally != nullptr;
    program::Codelet codelet = isa::assemble("vertex", sources, request.address, options, tally);
    if (tally != nullptr && std::any_of(tally->undefined_uses.begin(), tally->undefined_uses.end(),
                                        [](const isa::UndefinedUse& use) { return use.is_data; })) {
        options.allow_undefined = false;
        return isa::assemble("vertex", sources, request.address, options); // says which
    }
    return codelet;
}

program::Codelet assemble_text(const spec::MachineSpec& machine, const std::string& text,
                               Address address) {
    return isa::assemble("stub", {{"stub", text}}, address,
                         isa::options_for(isa::target_of(machine)));
}

} // namespace tessera::vertex
