// SPDX-License-Identifier: MIT
// A tensor with rows and columns exchanged, where it stands: only the host sees its elements in
// another order.
#pragma once

#include "kernels/graph/graph.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::graph {

/// Exchanges the last two sizes; sizes before them number matrices that are transposed each.
void transpose(Tensor& tensor);

/// Pieces with the elements of a piece of `m x n` matrices, one behind the other, at their places in
/// these matrices' transposes: one, where no loop of the piece goes on from a row into the next.
[[nodiscard]] std::vector<Piece> turned(const Piece& piece, std::int64_t m, std::int64_t n);

/// The same of a sparse matrix's stored blocks, [number][row][column]: each is transposed, and number
/// i of the tensor is `from[i]` of the result.
void transpose_blocks(Tensor& tensor, std::span<const std::int64_t> from);

} // namespace tessera::graph
