// SPDX-License-Identifier: MIT
#include "sim/cost/area.h"

#include "models/spec/matrix_unit.h"

namespace tessera::cost {

Area area_of(const spec::MachineSpec& machine) {
    constexpr double kMib = 1024.0 * 1024.0;
    const auto tiles = static_cast<double>(machine.chip.tiles);
    const spec::AreaSpec& area = machine.area;
    return {tiles * area.memory_mm2_per_mib * static_cast<double>(machine.memory.bytes()) / kMib,
            tiles * area.worker_mm2 * static_cast<double>(machine.tile.workers),
            tiles * area.matrix_mm2_per_mac *
                static_cast<double>(spec::matrix_unit(machine).macs_f16_f16),
            tiles * area.exchange_mm2_per_lane_byte *
                static_cast<double>(4 * machine.exchange.lane_items()),
            area.rest_mm2};
}

} // namespace tessera::cost
