// SPDX-License-Identifier: MIT
// The most rounds that a loop of a codelet makes: `rpt` reads so many bits of a register. Work that
// takes more is cut into several vertices, one after the other, or where a vertex cannot be cut, it
// does not fit.
#pragma once

#include "base/error.h"
#include "models/isa/machine_target.h"
#include "models/spec/machine_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace tessera::plan {

[[nodiscard]] inline std::int64_t most_rounds(const spec::MachineSpec& machine) {
    return static_cast<std::int64_t>(isa::target_of(machine).repeat_count_mask());
}

/// For loops that are not cut: `rounds`, of a loop over `what`.
/// @throws DoesNotFit
inline std::int64_t counted_rounds(const spec::MachineSpec& machine, std::int64_t rounds,
                                   std::string_view what) {
    if (rounds > most_rounds(machine)) {
        throw DoesNotFit(fmt::format(
            "a worker's loop over {} has {} rounds, expected at most {}, which rpt can count; with "
            "more tiles (chip.tiles) or workers (tile.workers) each has less to do",
            what, rounds, most_rounds(machine)));
    }
    return rounds;
}

/// The most of a vertex that finds each worker's share by a product instead of a division
/// (SHARE_OF_WORKER in codelets/published/vector_work.h): x R >> 18 is x / W as long as x R has 32
/// bits and what R W is over 2^18 does not show.
[[nodiscard]] inline std::int64_t most_shared_rounds(const spec::MachineSpec& machine) {
    constexpr std::int64_t kOne = std::int64_t{1} << 18;
    const std::int64_t workers = machine.tile.workers;
    const std::int64_t reciprocal = (kOne + workers - 1) / workers;
    const std::int64_t over = reciprocal * workers - kOne;
    const std::int64_t in_32_bits = (std::int64_t{1} << 32) / reciprocal;
    const std::int64_t most = over == 0 ? in_32_bits : std::min(in_32_bits, kOne / over);
    return std::min(most_rounds(machine), most / workers - 1);
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
