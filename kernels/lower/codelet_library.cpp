// SPDX-License-Identifier: MIT
#include "kernels/lower/codelet_library.h"

#include "base/error.h"
#include "kernels/codelets/embedded_sources.h"
#include "models/isa/assembler.h"
#include "models/isa/machine_target.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::lower {
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

program::Codelet assembled(const spec::MachineSpec& machine,
                           const std::vector<std::string>& sources) {
    isa::AssemblyOptions options = isa::options_for(isa::target_of(machine));
    options.embedded = codelets::embedded_sources();
    try {
        return isa::assemble("codelets", select(sources), machine.memory.code_begin(), options);
    } catch (const ConfigError& error) {
        // They assemble for the machine that they were written for.
        throw NotModelled(fmt::format("machine {}: not modelled: a codelet for its instruction "
                                      "set; see docs/deviations.md\n  {}",
                                      machine.name, error.diagnostics().front().text()));
    }
}

} // namespace

CodeletLibrary::CodeletLibrary(const spec::MachineSpec& machine,
                               const std::vector<std::string>& sources)
    : codelet_(assembled(machine, sources)) {}

Address CodeletLibrary::entry(const std::string& symbol) const {
    const auto found = codelet_.symbols.find(symbol);
    TESSERA_ASSERT(found != codelet_.symbols.end());
    return found->second;
}

} // namespace tessera::lower
