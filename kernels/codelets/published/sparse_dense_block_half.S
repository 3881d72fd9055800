// SPDX-License-Identifier: MIT
// Block-sparse times dense, FP16 inputs and partials, both sets of the matrix unit. Vertex state: sparse_dense_block.h.
//
//   StaticSparseDenseMatMulBlock_4x4_half_half, _8x8_half_half, _16x16_half_half
//
// One pass of the matrix unit over a worker's columns a block: B / 4 steps a column, one column entering, one being multiplied, one leaving.
// A result is stored two steps after it left: the load of partials is then an odd number of words ahead of the store, so the two never
// meet in one element of the interleaved region.
// Timing, worker issues with n columns: n + 13 (4x4, n > 5), 2 n + 13 (8x8, n > 3), 4 n + 17 (16x16, n > 2); one more in a row's first block.
#ifdef __IPU__

#include "conv_partials.h"
#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "sparse_dense_block.h"
#include "sparse_dense_block_half.h"

    SPARSE_BLOCK_COLUMNS block_4_half 8 8 6
    .align 8
.Lrow_block_4_half:
    add         $w_out, $w_out, $w_row_bytes
.Lsame_row_block_4_half:
    SPARSE_BLOCK_4_HALF block_4_half $w_p

DEF_STACK_USAGE 0 .text.StaticSparseDenseMatMulBlock_4x4_half_half
SPARSE_BLOCK_SUPERVISOR StaticSparseDenseMatMulBlock_4x4_half_half block_4_half 1 0 same_row LOAD_WEIGHTS_4X4

    SPARSE_BLOCK_COLUMNS block_8_half 16 16 4
    .align 8
.Lrow_block_8_half:
    add         $w_out, $w_out, $w_row_bytes
.Lsame_row_block_8_half:
    SPARSE_BLOCK_8_HALF block_8_half $w_p

DEF_STACK_USAGE 0 .text.StaticSparseDenseMatMulBlock_8x8_half_half
SPARSE_BLOCK_SUPERVISOR StaticSparseDenseMatMulBlock_8x8_half_half block_8_half 1 0 same_row LOAD_WEIGHTS_TWO_SETS 8 2 8

    SPARSE_BLOCK_COLUMNS block_16_half 32 32 3
    .align 8
.Lrow_block_16_half:
    add         $w_out, $w_out, $w_row_bytes
.Lsame_row_block_16_half:
    SPARSE_BLOCK_16_HALF block_16_half $w_p

DEF_STACK_USAGE 0 .text.StaticSparseDenseMatMulBlock_16x16_half_half
SPARSE_BLOCK_SUPERVISOR StaticSparseDenseMatMulBlock_16x16_half_half block_16_half 1 0 same_row LOAD_WEIGHTS_TWO_SETS 16 4 8

#endif
