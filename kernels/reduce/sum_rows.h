// SPDX-License-Identifier: MIT
// y[j] = sum over i of x[i, j]: the rows of a matrix become one. Sizes before the last are all rows.
//
//     x, block by block  --"column sums"-->  a slice of sums for each block, FP32
//     slices             --"bring sums", "sum"-->  parts of columns on tiles, once or in two stages and more
//
// Blocks are read where they stand, if each row of each begins at a multiple of 8 bytes, no tile has two
// blocks of the same columns, and blocks have either the same columns or none in common. Otherwise x is
// copied into rows, which are dealt evenly to the tiles. Up to 32 slices of the same columns are summed
// at once: each of their tiles gathers a part of the columns of all of them. Of more, those of groups
// are first, with about as many groups as slices in a group.
// x: m x n, f16 or f32, any m and n of at least 1. y: n elements of x's type. Sums are FP32, and rounded
// once.
//
// Timing: kernels/codelets/column_sums_cost.h, kernels/codelets/reduce_add_cost.h, and the exchanges.
#pragma once

#include "kernels/family/family.h"

namespace tessera::reduce {

[[nodiscard]] const family::Family& sum_rows();

} // namespace tessera::reduce
