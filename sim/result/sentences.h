// SPDX-License-Identifier: MIT
// What the critical path says of a run and of its steps, one sentence each.
//
//     multiply: tile 91 takes 1.19 times the mean of 1,472 tiles; 16 % of the step is waiting for it:
//     10 % for 1.11 times the mean non-zeros; 6 % for unequal workers, of which worker 2 is busy for
//     3,012 cycles, 80 % of them with row 17, and the mean worker for 2,410
#pragma once

#include "models/listeners/account.h"
#include "models/program/program.h"

#include <array>
#include <cstdint>
#include <string>

namespace tessera::result {

/// Where the critical path goes, from release to release, by what its steps are for.
struct CriticalPath {
    std::array<Cycles, program::kRoles.size()> by_role{}; ///< waits for stream copies are theirs
    Cycles barriers = 0;                                  ///< with them the roles sum to the run
    TileId tile = 0; ///< that is on it longest, the lowest number of equals
    Cycles tile_cycles = 0;
    std::int64_t tiles = 0; ///< that are on it
    std::string sentence;
};

[[nodiscard]] CriticalPath critical_path(const listeners::Account& account);

/// What the tile that is on the critical path for most of a step did there, against the other tiles
/// of the step and against its bound, without the step's name. A cause is named with the part of the
/// step that it accounts for; the parts sum to what is waited for. `workers` are those of a tile.
[[nodiscard]] std::string compute_set_sentence(const listeners::StepRecord& record,
                                               const program::ComputeSet& set,
                                               std::int64_t workers);
[[nodiscard]] std::string exchange_sentence(const listeners::StepRecord& record);
[[nodiscard]] std::string stream_sentence(const listeners::StepRecord& record);
[[nodiscard]] std::string link_sentence(const listeners::StepRecord& record);

/// On the path for most of the step; 0 where none is.
[[nodiscard]] TileId critical_tile(const listeners::StepRecord& record);

} // namespace tessera::result
