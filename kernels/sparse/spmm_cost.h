// SPDX-License-Identifier: MIT
// Cost of a split: a closed form from averages for the search, and the exact one of a partition's
// vertices.
//   multiply     by the kind of blocks (spmm_block_kind.h)
//   exchange     lines of B that a part touches + values when they are broadcast
//   reduction    contributions to a row beyond the first
// Source: docs/kernels.md; tests/kernels/sparse/spmm_plan_test.cpp holds the exact one to the
// simulated cycles.
#pragma once

#include "kernels/plan/exchange_cost.h"
#include "kernels/plan/predicted_cycles.h"
#include "kernels/sparse/spmm_partition.h"
#include "kernels/sparse/spmm_reduction.h"
#include "models/spec/machine_spec.h"

#include <vector>

namespace tessera::sparse {

/// From the numbers of rows, columns and blocks alone, blocks taken as spread evenly.
[[nodiscard]] plan::PredictedCycles estimate(const spec::MachineSpec& machine,
                                             const plan::ExchangeCost& exchange,
                                             const Problem& problem, const Split& split);

/// From the parts themselves: vertices exactly, exchanges from the words and messages of the
/// busiest tile.
[[nodiscard]] plan::PredictedCycles refine(const spec::MachineSpec& machine,
                                           const plan::ExchangeCost& exchange,
                                           const Partition& partition, const Reduction& reduction);

/// The same of sampled products, by the lines of X and those of dY.
[[nodiscard]] plan::PredictedCycles refine_sampled(const spec::MachineSpec& machine,
                                                   const plan::ExchangeCost& exchange,
                                                   const Partition& x, const Partition& dy);
[[nodiscard]] Bytes least_sampled_bytes(const Partition& x, const Partition& dy);

/// Bytes of one tile by averages, without the code zone.
[[nodiscard]] Bytes estimate_bytes(const spec::MachineSpec& machine, const Problem& problem,
                                   const Split& split);

/// By how many bytes so many lines of B are longer than what lists of offsets reach.
[[nodiscard]] Bytes beyond_reach(const Problem& problem, const Split& split, double lines);
/// The same of a part's lines by averages.
[[nodiscard]] Bytes estimate_beyond_reach(const Problem& problem, const Split& split);

/// Bytes of the fullest tile while it multiplies or sums, at least; homes of operands but for what stays are left out.
[[nodiscard]] Bytes least_bytes(const spec::MachineSpec& machine, const Partition& partition,
                                const Reduction& reduction);

/// The tile's stub: local copies of so many 8-byte words, then the part's vertex.
[[nodiscard]] Cycles multiply_cycles(const spec::MachineSpec& machine, const Problem& problem,
                                     const Part& part, std::int64_t columns,
                                     const std::vector<std::int64_t>& copied_words);

} // namespace tessera::sparse
