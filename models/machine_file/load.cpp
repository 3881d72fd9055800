// SPDX-License-Identifier: MIT
#include "models/machine_file/load.h"

#include "base/config/document.h"
#include "base/config/read.h"
#include "models/link/core/deadlock_check.h"
#include "models/link/core/route_table.h"
#include "models/link/core/topology.h"

#include <utility>

namespace tessera::machine_file {
namespace {

constexpr const char* kRoutes = "/system/links/routes";

} // namespace

std::vector<Diagnostic> check_links(const spec::MachineSpec& machine,
                                    const config::Document& document) {
    if (machine.system.chips == 1) {
        return {};
    }
    const auto topology = link::topology(machine);
    std::vector<Diagnostic> found;
    for (const auto& mistake : link::route_mistakes(machine, topology)) {
        found.push_back(
            document.at_value(kRoutes + ("/" + std::to_string(mistake.route)), mistake.message));
    }
    if (!found.empty()) {
        return found;
    }
    const link::RouteTable routes{machine, topology};
    const auto circle = link::circle_of_full_buffers(machine, topology, routes);
    if (!circle.empty()) {
        found.push_back(document.at_value(
            kRoutes,
            "packets can wait for each other's places in a circle of full buffers: " +
                link::circle_text(topology, circle),
            "let a route turn elsewhere, or set system.links.buffer_packets=0 (endless)"));
    }
    return found;
}

spec::LoadedMachine load(spec::MachineFiles files, const std::vector<std::string>& set_overrides) {
    auto loaded = spec::load_machine(std::move(files), set_overrides);
    config::throw_if_any(check_links(loaded.spec, {loaded.resolved, loaded.origins, {}}));
    return loaded;
}

spec::LoadedMachine load(const std::string& name_or_path, const config::ConfigPaths& paths,
                         const std::vector<std::string>& set_overrides) {
    return load(spec::read_machine(name_or_path, paths), set_overrides);
}

} // namespace tessera::machine_file
