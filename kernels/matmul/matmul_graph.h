// SPDX-License-Identifier: MIT
// A partition of the product as tensors, vertices and messages of a graph.
#pragma once

#include "kernels/family/product.h"
#include "kernels/matmul/matmul_grid.h"
#include "kernels/matmul/matmul_squares.h"
#include "models/spec/machine_spec.h"

#include <string>
#include <vector>

namespace tessera::matmul {

/// Sources that its vertices need.
[[nodiscard]] std::vector<std::string> codelets_of(const Problem& problem);

/// Tensors "a", "b" and "c", and "bias" where there is one; every element of an operand stands on one tile, in the
/// layout that the codelets read.
[[nodiscard]] family::Planned emit(const spec::MachineSpec& machine, const Grid& grid,
                                   const std::string& name, const StandingSquares& standing = {});

} // namespace tessera::matmul
