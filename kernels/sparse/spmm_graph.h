// SPDX-License-Identifier: MIT
// A partition of the product as tensors, vertices and messages of a graph.
#pragma once

#include "kernels/family/product.h"
#include "kernels/sparse/spmm_homes.h"
#include "models/spec/machine_spec.h"

#include <string>
#include <vector>

namespace tessera::sparse {

/// Sources that its vertices need.
[[nodiscard]] std::vector<std::string> codelets_of(const Problem& problem);

/// What is told of it lacks its cuts and roundings. Tensors "a" {blocks, block, block}, "b" {k, n} and "c" {m, n}. @throws DoesNotFit where a part's
/// B is longer than its lists reach
[[nodiscard]] family::Planned emit(const spec::MachineSpec& machine, const Homes& homes,
                                   const Reduction& reduction, const std::string& name);

} // namespace tessera::sparse
