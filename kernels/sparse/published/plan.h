// SPDX-License-Identifier: MIT
// The published plan of a static sparse product as a graph: its bands, places and steps
// (kernels/published/static_planner.h), with vertices in the published loop structure.
//
//   C[m x n] = A[m x k] * B[k x n]. The columns of B are cut into parts; in each of them the columns
//   of A are cut into bands with nearly equal numbers of blocks, and a band's blocks, row by row,
//   are dealt evenly to its tiles. A row may be cut between two tiles.
//
// Layouts: B [block of k][column][b] and C [block of m][column][b] lie linearly over all tiles
// whatever the bands; blocks stand where they are used, or with several parts linearly over all
// tiles. A tile gathers the rows of B that its blocks touch, multiplies, and sends what it has of
// each row of C: alone to where C stands, or together with others to the tile that sums them.
// Sources: docs/published_plans.md#static-sparse-products.
#pragma once

#include "kernels/family/product.h"
#include "kernels/graph/graph.h"
#include "kernels/workload/operands.h"
#include "kernels/workload/workload.h"
#include "models/spec/machine_spec.h"

namespace tessera::sparse {

/// How a plan is run.
struct PublishedUse {
    std::int64_t passes = 1; ///< over the columns of B and C, one after the other
    bool in_loop = false;    ///< all of it several times in a run
};

/// Columns of each of so many passes, but perhaps the last.
[[nodiscard]] std::int64_t columns_of_pass(std::int64_t n, std::int64_t passes);

/// The published plan; without blocks zeros where the result stands. @throws DoesNotFit where no
/// split is valid
[[nodiscard]] family::Planned plan_published(const spec::MachineSpec& machine,
                                             const workload::SpmmWorkload& workload,
                                             const workload::SparsePattern& matrix,
                                             const PublishedUse& use = {});

/// The published planner's own sum of its phases in one pass: less than its plan takes, as a rule.
/// @throws DoesNotFit where no split is valid
[[nodiscard]] Cycles published_cycles(const spec::MachineSpec& machine,
                                      const workload::SpmmWorkload& workload,
                                      const workload::SparsePattern& matrix);

} // namespace tessera::sparse
