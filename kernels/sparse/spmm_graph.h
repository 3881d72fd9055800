// SPDX-License-Identifier: MIT
// A partition of the product as tensors, vertices and messages of a graph.
#pragma once

#include "kernels/graph/graph.h"
#include "kernels/sparse/spmm_homes.h"
#include "models/spec/machine_spec.h"

#include <string>
#include <vector>

namespace tessera::spmm {

struct Emitted {
    graph::Graph graph;
    std::int64_t tiles_busy = 0; ///< that multiply
    Cycles compute = 0;   ///< predicted: slowest tile of every compute set, and the control steps
    Cycles reduction = 0; ///< of that, what summing partial results takes
};

/// Sources that its vertices need.
[[nodiscard]] std::vector<std::string> codelets_of(const Problem& problem);

/// Tensors "a" {blocks, block, block}, "b" {k, n} and "c" {m, n}. @throws DoesNotFit where a part's
/// X is longer than its lists reach
[[nodiscard]] Emitted emit(const spec::MachineSpec& machine, const Homes& homes,
                           const Reduction& reduction, const std::string& name);

} // namespace tessera::spmm
