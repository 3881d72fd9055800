// SPDX-License-Identifier: MIT
// The lines of a dense operand: each at home on one tile, and in slices on the tiles of the parts that
// need them.
#pragma once

#include "kernels/graph/copy.h"
#include "kernels/graph/graph.h"
#include "kernels/sparse/spmm_homes.h"

namespace tessera::sparse {

struct Lines {
    const Homes& homes;   ///< of the partition whose lines these are
    graph::BufferId used; ///< as a part's vertices read them
    graph::BufferId home;
};

/// Brings the lines of slices to the tiles that need them.
void bring_lines(graph::Bringing& bringing, const Lines& lines, const Range& slices);

/// Adds the pieces of the operand, which has so many rows.
void add_pieces(graph::Tensor& tensor, const Lines& lines, std::int64_t rows);

} // namespace tessera::sparse
