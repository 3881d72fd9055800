// SPDX-License-Identifier: MIT
// Closed-form cost of a partition, for the search.
//   compute   = chunks * vertex(rows, out groups, k groups of a chunk)
//   vertex    = weight loads * (ld128putcs + launch + W * issues)
//   exchange  = chunks * (words of A + words of B into a tile, half for the paired operand;
//               latency, prologue)
//   reduction = (parts_k - 1) / parts_k * partial words, and parts_k + 8 (6) issues for every
//               16 bytes of partials
//   bias, activation: the cost of their vertices on the largest share of the result
// Source: docs/models/amp_vertex.md, docs/models/exchange.md;
// tests/kernels/matmul/matmul_plan_test.cpp holds it to the simulated cycles.
#pragma once

#include "kernels/matmul/matmul_grid.h"
#include "kernels/plan/exchange_cost.h"
#include "kernels/plan/predicted_cycles.h"
#include "models/spec/machine_spec.h"

namespace tessera::matmul {

[[nodiscard]] plan::PredictedCycles estimate(const spec::MachineSpec& machine,
                                             const plan::ExchangeCost& exchange, const Grid& grid);

/// Bytes of one tile that a partition needs, without the code zone and rounding to memory elements.
[[nodiscard]] Bytes estimate_bytes(const spec::MachineSpec& machine, const Grid& grid);

} // namespace tessera::matmul
