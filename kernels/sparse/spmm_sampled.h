// SPDX-License-Identifier: MIT
// The gradient of the values of a static sparse product: at each place that A stores in row i and
// column j, the product of row i of dY with row j of X. Tile (part, in) has the part's places, and
// columns `in` of the rows that they need.
//
//     bring       rows of dY and of X, in the slice's columns
//     multiply    FP32 sums at the part's places
//     reduce      sums of the slices come to the homes of the values
//
// Source: docs/kernels.md#several-products-with-one-sparse-matrix.
#pragma once

#include "kernels/family/product.h"
#include "kernels/plan/exchange_cost.h"
#include "kernels/plan/predicted_cycles.h"
#include "kernels/sparse/spmm_homes.h"
#include "kernels/sparse/spmm_partition.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::sparse {

/// The partition of the transpose whose lines are those of dY. `cut` is the sampled problem's.
[[nodiscard]] Partition left_lines(const Partition& cut, const workload::SparsePattern& transpose,
                                   std::span<const std::int64_t> from);

/// Its graph, with tensors "a" {blocks, block, block}, "dy" {m, n}, "x" {k, n}, and "c", which stands as
/// "a" does elsewhere. Nothing reads "a". `x` are the homes of X and of the values, `dy` those of dY. @throws DoesNotFit
[[nodiscard]] family::Planned emit_sampled(const spec::MachineSpec& machine, const Homes& x,
                                           const Homes& dy);

/// A part's vertex over so many columns, behind local copies of so many 8-byte words.
[[nodiscard]] Cycles sampled_cycles(const spec::MachineSpec& machine, const Problem& problem,
                                    double blocks, std::int64_t columns,
                                    const std::vector<std::int64_t>& copied_words);

/// What the reduction takes, where a part has so many blocks.
[[nodiscard]] plan::PredictedCycles sampled_reduction(const spec::MachineSpec& machine,
                                                      const plan::ExchangeCost& exchange,
                                                      const Problem& problem, const Split& split,
                                                      double blocks);

/// Bytes of a tile while it multiplies, at least, by the lines and blocks of its part.
[[nodiscard]] Bytes sampled_bytes(const Problem& problem, const Split& split, double x_lines,
                                  double dy_lines, double blocks);

} // namespace tessera::sparse
