// SPDX-License-Identifier: MIT
// The most rounds that a loop of a codelet makes: `rpt` reads so many bits of a register.
#pragma once

#include "base/error.h"
#include "models/isa/machine_target.h"
#include "models/spec/machine_spec.h"

#include <fmt/format.h>

#include <cstdint>

namespace tessera::plan {

[[nodiscard]] inline std::int64_t most_rounds(const spec::MachineSpec& machine) {
    return static_cast<std::int64_t>(isa::target_of(machine).repeat_count_mask());
}

/// @throws NotModelled where a loop over so many words of a worker takes more
inline void check_repeat_count(const spec::MachineSpec& machine, const char* loop,
                               std::int64_t rounds) {
    const std::int64_t most = most_rounds(machine);
    if (rounds > most) {
        throw NotModelled(fmt::format("{}: not modelled: {} rounds of one worker's loop, expected "
                                      "at most {} on machine '{}'; see docs/kernels/micro.md",
                                      loop, rounds, most, machine.name));
    }
}

} // namespace tessera::plan
