// SPDX-License-Identifier: MIT
// Sparse-dense product C[m x n] = A[m x k] * B[k x n], or A^T[k x m] * B[m x n], A sparse in square
// blocks whose places come when the program runs.
//
// Planning knows a capacity: how many blocks there are at most. Each tile has a bucket with room for
// its share of them and for the words that say where they are. Other patterns are other words: the
// program stays. Source: docs/kernels.md#sparse-pattern-known-at-run-time.
#pragma once

#include "kernels/family/family.h"

namespace tessera::dynamic {

class Operand;

/// The product as a step of a pipeline: spmm(a, b), a sparse with a capacity.
[[nodiscard]] const family::Family& family();
/// The gradient of its values: sddmm(a, dy, x).
[[nodiscard]] const family::Family& sampled();

/// The operand of a step of these that has been emitted; null of other steps.
[[nodiscard]] const Operand* operand_of(const family::Step& step);

} // namespace tessera::dynamic
