// SPDX-License-Identifier: MIT
// Block-sparse times dense, FP16 inputs and FP32 partials, one set of the matrix unit. Vertex state: sparse_dense_block.h.
//
//   StaticSparseDenseMatMulBlock_4x4_half_float    two steps a column: partials of two outputs enter in each
//   StaticSparseDenseMatMulBlock_8x8_half_float    four steps a column; inputs are multiplied in the first two
//   StaticSparseDenseMatMulBlock_16x16_half_float  two weight loads a block, for eight outputs each; four steps a column
//
// A result is stored two steps after it left, so that the load of partials is an odd number of words ahead of the store.
// Timing, worker issues with n columns: 2 n + 15 (4x4, n > 3), 4 n + 19 (8x8, n > 2), 2 (4 n + 20) (16x16, n > 2); one more in a row's first.
#ifdef __IPU__

#include "conv_partials.h"
#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "sparse_dense_block.h"
#include "sparse_dense_block_half_float.h"

    SPARSE_BLOCK_COLUMNS block_4_half_float 8 16 4
    .align 8
.Lrow_block_4_half_float:
    add         $w_out, $w_out, $w_row_bytes
.Lsame_row_block_4_half_float:
    SPARSE_BLOCK_4_HALF_FLOAT block_4_half_float $w_p

DEF_STACK_USAGE 0 .text.StaticSparseDenseMatMulBlock_4x4_half_float
SPARSE_BLOCK_SUPERVISOR StaticSparseDenseMatMulBlock_4x4_half_float block_4_half_float 1 0 same_row LOAD_WEIGHTS_ONE_SET 4 1

    SPARSE_BLOCK_COLUMNS block_8_half_float 16 32 3
    .align 8
.Lrow_block_8_half_float:
    add         $w_out, $w_out, $w_row_bytes
.Lsame_row_block_8_half_float:
    SPARSE_BLOCK_8_HALF_FLOAT block_8_half_float $w_p

DEF_STACK_USAGE 0 .text.StaticSparseDenseMatMulBlock_8x8_half_float
SPARSE_BLOCK_SUPERVISOR StaticSparseDenseMatMulBlock_8x8_half_float block_8_half_float 1 0 same_row LOAD_WEIGHTS_ONE_SET 8 2

    SPARSE_BLOCK_COLUMNS block_16_half_float 32 64 3
    .align 8
.Lrow_block_16_half_float:
    add         $w_out, $w_out, $w_row_bytes
.Lsame_row_block_16_half_float:
    mov         $w_out_now, $w_out
    bri         .Lcolumns_of_half_block_16_half_float
.Lsecond_half_block_16_half_float:
    add         $w_out_now, $w_out, 32
.Lcolumns_of_half_block_16_half_float:
    setzi       $w_strides, 5 << 10
    add         $w_dense, $mvertex_base, $w_dense_offset
    SPARSE_BLOCK_16_HALF_FLOAT_AT block_16_half_float $w_p

DEF_STACK_USAGE 0 .text.StaticSparseDenseMatMulBlock_16x16_half_float
SPARSE_BLOCK_SUPERVISOR StaticSparseDenseMatMulBlock_16x16_half_float block_16_half_float 2 0 second_half LOAD_WEIGHTS_ONE_SET 8 4

#endif
