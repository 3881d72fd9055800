// SPDX-License-Identifier: MIT
#include "kernels/chips/spread_tiles.h"

#include "kernels/micro/limits.h"

namespace tessera::chips {

std::vector<TileId> spread_tiles(const spec::MachineSpec& machine, std::int64_t wanted) {
    const std::int64_t tiles = micro::tiles_or_all(machine, wanted, machine.chip.tiles);
    std::vector<TileId> spread;
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
        spread.push_back(static_cast<TileId>(tile * machine.chip.tiles / tiles));
    }
    return spread;
}

} // namespace tessera::chips
