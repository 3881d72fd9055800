// SPDX-License-Identifier: MIT
#include "models/timing/tile_position.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::timing {

std::int64_t grid_rows(std::int64_t tiles) {
    return std::max<std::int64_t>(1, (tiles + kTilesPerRow - 1) / kTilesPerRow);
}

namespace {

TilePosition position(std::int64_t row, std::int64_t column, std::int64_t sub) {
    return {static_cast<std::uint32_t>(row * kTilesPerRow + column * 4 + sub),
            static_cast<std::int32_t>(row), static_cast<std::int32_t>(column),
            static_cast<std::int32_t>(sub)};
}

} // namespace

TilePosition tile_position(const spec::ChipSpec& chip, TileId tile) {
    const auto rows = grid_rows(chip.tiles);
    if (chip.generation == spec::Generation::Ipu1) {
        constexpr std::int64_t kFirstColumn = 8;
        const std::int64_t island = tile / 4;
        return position(island % rows, (island / rows + kFirstColumn) % 16, tile % 4);
    }
    const std::int64_t pair = tile / 2;
    const auto block = pair / rows;
    const auto step = pair % rows;
    return position(block % 2 == 0 ? step : rows - 1 - step, block / 2, block % 2 + 2 * (tile % 2));
}

TileId pair_bit(const spec::ChipSpec& chip) {
    return chip.generation == spec::Generation::Ipu1 ? 2 : 1;
}

std::optional<TileId> partner_tile(const spec::ChipSpec& chip, TileId tile) {
    const TileId partner = tile ^ pair_bit(chip);
    if (static_cast<std::int64_t>(partner) >= chip.tiles)
        return std::nullopt;
    return partner;
}

TileGrid::TileGrid(const spec::MachineSpec& machine)
    : chip_(machine.chip), rows_(grid_rows(machine.chip.tiles)) {
    const auto tiles = machine.chip.tiles;
    tile_of_physical_.assign(static_cast<std::size_t>(rows_ * kTilesPerRow), kNoTile);
    positions_.reserve(static_cast<std::size_t>(tiles));
    for (TileId tile = 0; tile < static_cast<TileId>(tiles); ++tile) {
        positions_.push_back(tile_position(chip_, tile));
        tile_of_physical_[positions_.back().physical_id] = tile;
    }
}

std::optional<TileId> TileGrid::tile_of(std::uint32_t physical_id) const {
    if (physical_id >= tile_of_physical_.size() || tile_of_physical_[physical_id] == kNoTile)
        return std::nullopt;
    return tile_of_physical_[physical_id];
}

namespace {

/// Mux source that no tile has on the machine: 0x640, on ipu1 0x500 (one past its ids).
std::uint32_t machine_neutral(spec::Generation generation) {
    return generation == spec::Generation::Ipu1 ? 0x500 : 0x640;
}

} // namespace

bool is_machine_grid(const spec::ChipSpec& chip) {
    const std::int64_t ids = std::min(machine_neutral(chip.generation), kHostSideSource);
    return grid_rows(chip.tiles) * kTilesPerRow <= ids;
}

std::uint32_t neutral_source(const spec::MachineSpec& machine) {
    constexpr std::uint32_t kLastSource = (1U << 13U) - 1;
    static_assert(spec::kMostCompiledTiles + kTilesPerRow == kLastSource + 1);
    if (machine.chip.tiles > spec::kMostCompiledTiles)
        throw NotModelled(fmt::format("chip.tiles: got {} tiles, the exchange numbers at most {} "
                                      "tiles; see docs/models/exchange.md",
                                      machine.chip.tiles, spec::kMostCompiledTiles));
    return is_machine_grid(machine.chip) ? machine_neutral(machine.chip.generation) : kLastSource;
}

} // namespace tessera::timing
