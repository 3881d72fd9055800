// SPDX-License-Identifier: MIT
#include "kernels/lower/code_zone.h"

#include <algorithm>

namespace tessera::lower {
namespace {

constexpr Bytes kCodeAlignment = 8;

/// Room for so many bytes of code, so that the next piece is aligned.
Bytes aligned(Bytes bytes) {
    return (bytes + kCodeAlignment - 1) / kCodeAlignment * kCodeAlignment;
}

/// What contexts fetch ahead of the end of the code; data must not stand there.
Bytes fetched_behind(const spec::MachineSpec& machine) {
    return aligned(
        std::max(machine.tile.fetch_window_bytes, machine.tile.worker_fetch_window_bytes));
}

} // namespace

CodeZone lay_out_code(const spec::MachineSpec& machine, Bytes codelets,
                      std::span<const Bytes> stubs, std::span<const Bytes> rows) {
    const Address begin = machine.memory.region0_begin();
    Bytes used = aligned(static_cast<Bytes>(machine.memory.code_begin() - begin));
    const auto take = [&](Bytes bytes) {
        const Address at = begin + static_cast<Address>(used);
        used += aligned(bytes);
        return at;
    };
    CodeZone zone;
    zone.codelets = take(codelets);
    std::transform(stubs.begin(), stubs.end(), std::back_inserter(zone.stubs), take);
    zone.room.code = used + fetched_behind(machine);
    const Bytes code = used;
    std::transform(rows.begin(), rows.end(), std::back_inserter(zone.rows), take);
    zone.room.rows = used - code;
    return zone;
}

} // namespace tessera::lower
