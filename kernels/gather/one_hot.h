// SPDX-License-Identifier: MIT
// y[i, j] = 1 where j = ids[i], else 0: targets of a cross entropy, made of a list of classes. A number that
// is no class gives a row of zeros.
//
// ids: u32, m. y: m x classes, f16 or f32 (`type`). The rows are dealt evenly to the tiles of the site, and to
// the workers of a tile (kernels/codelets/one_hot.S); numbers are brought beside their rows.
//
// Timing: kernels/codelets/one_hot_cost.h; no cycle depends on a number, known or not.
// Not modelled: rows with more words of 8 bytes than a repeat counts.
#pragma once

#include "base/units.h"
#include "kernels/family/family.h"
#include "models/spec/machine_spec.h"

#include <cstdint>

namespace tessera::gather {

[[nodiscard]] const family::Family& one_hot();

/// Cycles of a tile's stub that has so many rows.
[[nodiscard]] Cycles one_hot_cycles(const spec::MachineSpec& machine, ElementType type,
                                    std::int64_t rows, std::int64_t classes);

} // namespace tessera::gather
