// SPDX-License-Identifier: MIT
#include "kernels/lower/code_zone.h"

#include "kernels/plan/lowest_fit.h"

#include <algorithm>
#include <iterator>

namespace tessera::lower {
Bytes fetched_behind(const spec::MachineSpec& machine) {
    return plan::round_up(
        std::max(machine.tile.fetch_window_bytes, machine.tile.worker_fetch_window_bytes),
        kCodeAlignment);
}

CodeZone lay_out_code(const spec::MachineSpec& machine, Bytes codelets,
                      std::span<const Bytes> stubs, Bytes control) {
    const Address begin = machine.memory.region0_begin();
    Bytes used =
        plan::round_up(static_cast<Bytes>(machine.memory.code_begin() - begin), kCodeAlignment);
    const auto take = [&](Bytes bytes) {
        const Address at = begin + static_cast<Address>(used);
        used += plan::round_up(bytes, kCodeAlignment);
        return at;
    };
    CodeZone zone;
    zone.codelets = take(codelets);
    std::transform(stubs.begin(), stubs.end(), std::back_inserter(zone.stubs), take);
    zone.control = take(control);
    zone.control_bytes = control;
    const bool is_empty = codelets == 0 && stubs.empty() && control == 0;
    zone.bytes = is_empty ? 0 : used + fetched_behind(machine);
    return zone;
}

} // namespace tessera::lower
