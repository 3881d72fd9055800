// SPDX-License-Identifier: MIT
// Cost of a split: a closed form from averages for the search, and the exact one of a partition's
// vertices.
//   elementwise, per worker: column groups * (3 * non-zeros + 6 (7) * rows); block 16: weight loads
//   * (32 + W * 4 * columns / W) exchange: lines of X that a part touches + values when they are
//   broadcast; reduction: contributions to a row beyond the first
// Source: docs/kernels.md; tests/kernels/spmm_plan_test.cpp holds the exact one to the simulated
// cycles.
#pragma once

#include "kernels/plan/planned_program.h"
#include "kernels/sparse/spmm_partition.h"
#include "models/spec/machine_spec.h"

#include <vector>

namespace tessera::spmm {

/// From the numbers of rows, columns and blocks alone, blocks taken as spread evenly.
[[nodiscard]] plan::PredictedCycles estimate(const spec::MachineSpec& machine,
                                             const Problem& problem, const Split& split);

/// The same for bytes of one tile, without the code zone.
[[nodiscard]] Bytes estimate_bytes(const spec::MachineSpec& machine, const Problem& problem,
                                   const Split& split);

/// Rows of a part for each worker: consecutive, nearly equal work.
[[nodiscard]] std::vector<Range> deal_rows(const Problem& problem, const Part& part,
                                           std::int64_t workers);

/// The tile's stub: local copies of so many 8-byte words, then the part's vertex.
[[nodiscard]] Cycles multiply_cycles(const spec::MachineSpec& machine, const Problem& problem,
                                     const Part& part, std::int64_t columns,
                                     const std::vector<std::int64_t>& copied_words);

} // namespace tessera::spmm
