// SPDX-License-Identifier: MIT
#include "kernels/lower/code_zone.h"

#include <algorithm>
#include <iterator>

namespace tessera::lower {
namespace {

constexpr Bytes kCodeAlignment = 8;

} // namespace

Bytes code_aligned(Bytes bytes) {
    return (bytes + kCodeAlignment - 1) / kCodeAlignment * kCodeAlignment;
}

Bytes fetched_behind(const spec::MachineSpec& machine) {
    return code_aligned(
        std::max(machine.tile.fetch_window_bytes, machine.tile.worker_fetch_window_bytes));
}

CodeZone lay_out_code(const spec::MachineSpec& machine, Bytes codelets,
                      std::span<const Bytes> stubs, Bytes control) {
    const Address begin = machine.memory.region0_begin();
    Bytes used = code_aligned(static_cast<Bytes>(machine.memory.code_begin() - begin));
    const auto take = [&](Bytes bytes) {
        const Address at = begin + static_cast<Address>(used);
        used += code_aligned(bytes);
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
