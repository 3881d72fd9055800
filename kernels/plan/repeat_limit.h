// SPDX-License-Identifier: MIT
// The most rounds that a loop of a codelet makes: `rpt` reads so many bits of a register. Work that
// takes more is cut into several vertices, one after the other.
#pragma once

#include "models/isa/machine_target.h"
#include "models/spec/machine_spec.h"

#include <cstdint>

namespace tessera::plan {

[[nodiscard]] inline std::int64_t most_rounds(const spec::MachineSpec& machine) {
    return static_cast<std::int64_t>(isa::target_of(machine).repeat_count_mask());
}

/// Cuts of at most `most` units that `units` take.
[[nodiscard]] constexpr std::int64_t cuts_of(std::int64_t units, std::int64_t most) {
    return units / most + (units % most == 0 ? 0 : 1);
}

/// Calls `visit(first unit, units)` for as few cuts of at most `most` units as there can be, all
/// about equally long.
template <class Visit> void for_cuts(std::int64_t units, std::int64_t most, const Visit& visit) {
    const std::int64_t cuts = cuts_of(units, most);
    for (std::int64_t cut = 0; cut < cuts; ++cut) {
        const std::int64_t first = units * cut / cuts;
        visit(first, units * (cut + 1) / cuts - first);
    }
}

} // namespace tessera::plan
