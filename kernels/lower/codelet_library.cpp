// SPDX-License-Identifier: MIT
#include "kernels/lower/codelet_library.h"

#include "base/config/suggest.h"
#include "base/error.h"
#include "kernels/codelets/embedded_sources.h"
#include "models/isa/assembler.h"
#include "models/isa/machine_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tessera::lower {
namespace {

std::vector<isa::SourceFile> select(const graph::Graph& graph) {
    const auto& all = codelets::embedded_sources();
    std::vector<isa::SourceFile> chosen;
    for (const std::string& name : graph.codelets) {
        const std::string file = name + ".S";
        if (const auto own = graph.own_codelets.find(name); own != graph.own_codelets.end()) {
            chosen.push_back({file, own->second});
            continue;
        }
        const auto found = std::find_if(all.begin(), all.end(), [&](const isa::SourceFile& source) {
            return source.name == file;
        });
        if (found == all.end()) {
            std::vector<std::string> known;
            std::transform(all.begin(), all.end(), std::back_inserter(known),
                           [](const isa::SourceFile& source) { return source.name; });
            const auto nearest = config::nearest_name(file, known);
            throw ProgramError(
                fmt::format("{}: there is no codelet '{}'{}", graph.name, file,
                            nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
        }
        chosen.push_back(*found);
    }
    return chosen;
}

/// Whether the project's own sources assemble for the machine, without those that are the user's.
bool knows_the_rest(const graph::Graph& graph, const spec::MachineSpec& machine,
                    const isa::AssemblyOptions& options) {
    graph::Graph rest("rest");
    std::ranges::copy_if(
        graph.codelets, std::back_inserter(rest.codelets),
        [&](const std::string& name) { return !graph.own_codelets.contains(name); });
    try {
        static_cast<void>(
            isa::assemble("codelets", select(rest), machine.memory.code_begin(), options));
        return true;
    } catch (const ConfigError&) {
        return false;
    }
}

program::Codelet assembled(const spec::MachineSpec& machine, const graph::Graph& graph) {
    isa::AssemblyOptions options = isa::options_for(isa::target_of(machine));
    options.embedded = codelets::embedded_sources();
    try {
        return isa::assemble("codelets", select(graph), machine.memory.code_begin(), options);
    } catch (const ConfigError& error) {
        if (!graph.own_codelets.empty() && knows_the_rest(graph, machine, options)) {
            throw; // a mistake of the user's
        }
        // The project's own assemble for the machine that they were written for.
        throw NotModelled(fmt::format("machine {}: not modelled: a codelet for its instruction "
                                      "set; see docs/deviations.md\n  {}",
                                      machine.name, error.diagnostics().front().text()));
    }
}

} // namespace

CodeletLibrary::CodeletLibrary(const spec::MachineSpec& machine, const graph::Graph& graph)
    : codelet_(assembled(machine, graph)) {}

Address CodeletLibrary::entry(const std::string& symbol) const {
    const auto found = codelet_.symbols.find(symbol);
    TESSERA_ASSERT(found != codelet_.symbols.end());
    return found->second;
}

} // namespace tessera::lower
