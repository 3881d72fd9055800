// SPDX-License-Identifier: MIT
// y[i, j] = sum of the magnitudes of block (i, j) of x: the norms by which sparse training chooses
// blocks (kernels/pattern/schedule.h).
//
//     x, m x k           on a tile, for blocks 2 to 4                y, beside
//     [ 0 | 1 | 2 ]      [ block 2 | pad ][ block 3 | pad ][ 4 ... ] [ 2 | 3 | 4 ]
//     [ 3 | 4 | 5 ]
//
// Blocks are dealt evenly to tiles, in their order, and those of a tile to its workers
// (kernels/codelets/block_norms.S). x is always brought there. What a block lacks at the matrix's
// lower or right end is zero.
// x: m x k, f16 or f32, any m and k of at least 1. y: f32, ceil(m / block) x ceil(k / block).
//
// Timing: kernels/codelets/block_norms_cost.h.
#pragma once

#include "base/units.h"
#include "kernels/codelets/block_norms_cost.h"
#include "kernels/family/family.h"
#include "models/spec/machine_spec.h"

#include <cstdint>

namespace tessera::reduce {

[[nodiscard]] const family::Family& block_norms();

/// Cycles of a tile's stub that has so many blocks of block x block elements.
[[nodiscard]] Cycles block_norms_cycles(const spec::MachineSpec& machine, ElementType type,
                                        std::int64_t blocks, std::int64_t block);

} // namespace tessera::reduce
