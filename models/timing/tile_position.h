// SPDX-License-Identifier: MIT
// Where a tile sits on the chip: pure arithmetic over the machine spec.
// Source: the C600 (ipu21) numbering as transcribed in docs/models/exchange.md#tile-numbering.
#pragma once

#include "base/units.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::timing {

/// Tiles in one full row of the grid: 16 columns of 4.
inline constexpr std::int64_t kTilesPerRow = 64;

/// Physical ids from here on name the host and link side of the exchange (ipu2, ipu21), where the
/// grid is no larger than a machine's.
inline constexpr std::uint32_t kHostSideSource = 0x600;

/// physical_id = row * 64 + column * 4 + sub. `row` counts from 0 at the sync source, `column` is
/// 0..15, `sub` 0..3. Exchange pairs are the physical ids p and p XOR 2.
struct TilePosition {
    std::uint32_t physical_id = 0;
    std::int32_t row = 0;
    std::int32_t column = 0;
    std::int32_t sub = 0;
};

/// Rows of a chip with `tiles` tiles: ceil(tiles / 64); 23 for 1472.
[[nodiscard]] std::int64_t grid_rows(std::int64_t tiles);

/// The numbering of a generation's logical tiles.
///   ipu2, ipu21  Pairs of tiles (2p, 2p+1) fill blocks of grid_rows(tiles) pairs; a block is half
///                a column (the even or the odd subs) and is walked down in even blocks, up in
///                odd ones. For 1472 tiles that is the C600 numbering.
///   ipu1         Islands of four tiles (4i .. 4i+3) fill columns downwards, column 8 first
///                (docs/evidence.md#gc2-numbering).
/// A chip with fewer tiles keeps the formula with shorter columns, so four tiles of ipu2 are one
/// row, column 0, ids 0, 2, 1, 3; a last column that is not full leaves ids unused.
[[nodiscard]] TilePosition tile_position(const spec::ChipSpec& chip, TileId tile);

/// The bit in which the numbers of the two tiles of an exchange pair differ: 1, on ipu1 2.
[[nodiscard]] TileId pair_bit(const spec::ChipSpec& chip);

/// The tile that shares its exchange lanes with `tile` (physical id XOR 2), or nothing where the
/// chip ends before it.
[[nodiscard]] std::optional<TileId> partner_tile(const spec::ChipSpec& chip, TileId tile);

/// All positions of a chip and the way back from physical ids.
class TileGrid {
public:
    explicit TileGrid(const spec::MachineSpec& machine);

    [[nodiscard]] std::int64_t tiles() const {
        return static_cast<std::int64_t>(positions_.size());
    }
    [[nodiscard]] std::int64_t rows() const { return rows_; }
    [[nodiscard]] const TilePosition& position(TileId tile) const { return positions_[tile]; }
    [[nodiscard]] std::optional<TileId> tile_of(std::uint32_t physical_id) const;
    [[nodiscard]] std::optional<TileId> partner(TileId tile) const {
        return partner_tile(chip_, tile);
    }
    [[nodiscard]] TileId pair_bit() const { return timing::pair_bit(chip_); }

private:
    static constexpr TileId kNoTile = 0xffffffff;

    spec::ChipSpec chip_;
    std::int64_t rows_ = 0;
    std::vector<TilePosition> positions_;
    std::vector<TileId> tile_of_physical_;
};

/// Whether the tiles' ids stay below those that mean something else on the machine: 24 rows of 64,
/// on ipu1 20. Larger grids are a what-if.
[[nodiscard]] bool is_machine_grid(const spec::ChipSpec& chip);

/// Mux value that selects no tile: 0x640, on ipu1 0x500 (one past its ids); on grids larger than a
/// machine's the last that a mux source can hold, 0x1fff, which is no tile's up to
/// spec::kMostCompiledTiles. Throws NotModelled for more.
[[nodiscard]] std::uint32_t neutral_source(const spec::MachineSpec& machine);

} // namespace tessera::timing
