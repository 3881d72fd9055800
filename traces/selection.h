// SPDX-License-Identifier: MIT
// Which tiles a trace shows and how finely: the options --trace-tiles and --trace-level.
#pragma once

#include "base/units.h"
#include "traces/event.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tessera::traces {

/// Tiles that a trace shows where --trace-tiles is not given, spread evenly over the machine; beside
/// them it has the tile that is critical longest.
inline constexpr TileId kDefaultTracedTiles = 16;

/// The tiles and the level that a trace shows.
struct Selection {
    Level level = Level::Worker;
    std::vector<bool> tiles;    ///< by tile number
    bool with_critical = false; ///< and the tile that is critical longest (critical_tile.h)

    /// The numbers of the tiles that get tracks, ascending; none at level Machine.
    [[nodiscard]] std::vector<TileId> traced_tiles() const;
};

/// Reads the texts of --trace-level (`machine`, `tile`, `worker`, empty for `worker`) and
/// --trace-tiles
/// (`all`; numbers and ranges as in `0-15,700`; empty for kDefaultTracedTiles tiles from the first
/// to the last, and the critical one) for a machine of `machine_tiles` tiles. Throws ConfigError with all that is wrong,
/// in which the file is the option's name.
[[nodiscard]] Selection parse_selection(std::string_view tiles_text, std::string_view level_text,
                                        TileId machine_tiles);

/// What the number of slices of a run depends on.
struct RunShape {
    std::int64_t phases = 0; ///< compute, exchange, sync and stream phases, repeats counted
    std::int64_t vertices_per_tile = 0; ///< the most that one tile runs over all phases
};

/// An upper estimate of the slices that a trace of such a run has: a phase is one slice of the
/// machine and at most two of a tile (its own and its wait), a vertex is one of a worker and
/// at most one of the supervisor.
[[nodiscard]] std::int64_t estimated_slices(const Selection& selection, const RunShape& shape);

} // namespace tessera::traces
