// SPDX-License-Identifier: MIT
#include "kernels/plan/codelet_library.h"

#include "base/error.h"
#include "kernels/codelets/embedded_sources.h"
#include "models/isa/assembler.h"

#include <algorithm>

namespace tessera::plan {
namespace {

std::vector<isa::SourceFile> select(const std::vector<std::string>& names) {
    std::vector<isa::SourceFile> chosen;
    for (const std::string& name : names) {
        const auto& all = codelets::embedded_sources();
        const auto found = std::find_if(all.begin(), all.end(), [&](const isa::SourceFile& source) {
            return source.name == name + ".S";
        });
        TESSERA_ASSERT(found != all.end());
        chosen.push_back(*found);
    }
    return chosen;
}

/// The machine as the assembler needs to know it.
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

CodeletLibrary::CodeletLibrary(const spec::MachineSpec& machine,
                               const std::vector<std::string>& sources)
    : codelet_(isa::assemble("codelets", select(sources), machine.memory.region0_begin(),
                             isa::options_for(target_of(machine)))) {}

Address CodeletLibrary::entry(const std::string& symbol) const {
    const auto found = codelet_.symbols.find(symbol);
    TESSERA_ASSERT(found != codelet_.symbols.end());
    return found->second;
}

} // namespace tessera::plan
