// SPDX-License-Identifier: MIT
// y[j, i] = x[i, j]: a view. y's elements are x's own; only the host sees them transposed. So there
// are no steps; a step that needs y in another layout has it copied there.
//
// x: m x n of any type, m and n of at least 1, in any layout. If it has no place yet, it is placed
// in rows, which are dealt evenly
// to the tiles of the site.
// Timing: none.
#pragma once

#include "kernels/family/family.h"

namespace tessera::transpose {

[[nodiscard]] const family::Family& family();

} // namespace tessera::transpose
