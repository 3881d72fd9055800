// SPDX-License-Identifier: MIT
// loss = factor * sum over rows i of (log(sum over j of exp(x[i, j])) - sum over j of t[i, j] x[i, j]):
// the cross entropy of softmax(x) and of targets t whose rows sum to 1, as rows with one 1 do.
//
// Each row is one tile's. The workers of a tile share rows, where that takes fewer cycles
// (kernels/codelets/cross_entropy.S, cross_entropy_join.S); the sums of all workers are summed over the
// chip (kernels/family/pair_sums.h).
// x, t: m x n, f16 or f32, any m and n of at least 1; read in place as those of softmax_gradient are. The
// loss is one f32 element on one tile.
//
// Timing: kernels/codelets/cross_entropy_cost.h.
// Not modelled: rows with more elements than a repeat counts.
#pragma once

#include "base/units.h"
#include "kernels/family/family.h"
#include "models/spec/machine_spec.h"

#include <cstdint>

namespace tessera::softmax {

[[nodiscard]] const family::Family& cross_entropy();

/// Cycles of a tile's stub that has so many rows, all in one block, with the sum of its workers' sums.
[[nodiscard]] Cycles cross_entropy_cycles(const spec::MachineSpec& machine, ElementType type,
                                          std::int64_t rows, std::int64_t columns);

} // namespace tessera::softmax
