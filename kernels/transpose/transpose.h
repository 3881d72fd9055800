// SPDX-License-Identifier: MIT
// y[j, i] = x[i, j]: a view. y's elements stand where x's do, only the host sees them turned, so
// there are no steps; a step that wants y elsewhere has it brought there.
//
// x: m x n of any type, m and n of at least 1, wherever it stands; if it stands nowhere yet, in
// rows
//   dealt evenly to the tiles of the site.
// Timing: none.
#pragma once

#include "kernels/family/family.h"

namespace tessera::transpose {

[[nodiscard]] const family::Family& family();

} // namespace tessera::transpose
