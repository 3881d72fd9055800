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
#include "kernels/graph/graph.h"

#include <cstdint>
#include <vector>

namespace tessera::transpose {

[[nodiscard]] const family::Family& family();

/// Pieces with the elements of a piece of an `m x n` matrix, at their places, in the matrix's
/// transpose: one, where no loop of the piece goes on from a row into the next.
[[nodiscard]] std::vector<graph::Piece> turned(const graph::Piece& piece, std::int64_t m,
                                               std::int64_t n);

} // namespace tessera::transpose
