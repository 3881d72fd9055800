// SPDX-License-Identifier: MIT
#include "kernels/catalog/machine_check.h"

#include "kernels/workload/of_chips.h"

#include <fmt/format.h>

#include <cstdint>

namespace tessera::catalog {
std::vector<Diagnostic> mistakes_on(const spec::LoadedMachine& machine,
                                    const LoadedWorkload& workload) {
    const std::int64_t chips = machine.spec.system.chips;
    if (workload::is_of_chips(workload.workload) == (chips > 1)) {
        return {};
    }
    if (chips == 1) {
        const config::Document document{.root = {}, .origins = workload.origins, .duplicates = {}};
        return {document.at_value(
            "/kind",
            fmt::format("workload {} is of several chips, and machine {} has one",
                        workload.workload.name, machine.spec.name),
            "--machine tiny4 has four small ones; --set system.chips=4 gives any machine four")};
    }
    const config::Document document{.root = {}, .origins = machine.origins, .duplicates = {}};
    return {document.at_value("/system/chips",
                              fmt::format("machine {} has {} chips, and workload {} is of one chip",
                                          machine.spec.name, chips, workload.workload.name),
                              "--set system.chips=1 runs it on one of them")};
}

} // namespace tessera::catalog
