// SPDX-License-Identifier: MIT
// Block-sparse times dense in FP32. Vertex state: sparse_dense_block.h.
//
//   StaticSparseDenseMatMulBlock_4x4_float_float    both sets, one engine each: four steps a column. With a chain of one engine partials
//       enter where they are needed at once: in the last two steps, results leave in the first two
//   StaticSparseDenseMatMulBlock_8x8_float_float    one set, eight steps a column: partials enter and results leave in every other one,
//       loads and stores take turns; the first column enters and the last one leaves by f32v2gina
//   StaticSparseDenseMatMulBlock_16x16_float_float  both sets; a block is two 16 x 8 halves, eight steps a column each. A result is stored two
//       steps after it left, so that the load of partials is an odd number of words ahead of the store
//
// Blocks of 16 x 16: [half][output of 16][input of 8].
// Timing, worker issues with n > 2 columns: 4 n + 12 (4x4), 8 n + 15 (8x8), 2 (8 n + 25) (16x16); one or two more in a row's first block.
#ifdef __IPU__

#include "conv_partials.h"
#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "sparse_dense_block.h"
#include "sparse_dense_block_float.h"

    SPARSE_BLOCK_COLUMNS block_4_float 16 16 3
    .align 8
.Lrow_block_4_float:
    add         $w_out, $w_out, $w_row_bytes
.Lsame_row_block_4_float:
    SPARSE_BLOCK_4_FLOAT block_4_float $w_p

DEF_STACK_USAGE 0 .text.StaticSparseDenseMatMulBlock_4x4_float_float
SPARSE_BLOCK_SUPERVISOR StaticSparseDenseMatMulBlock_4x4_float_float block_4_float 1 0 same_row LOAD_WEIGHTS_TWO_SETS 4 2 8

    SPARSE_BLOCK_COLUMNS block_8_float 32 32 3
    .align 8
.Lrow_block_8_float:
    add         $w_out, $w_out, $w_row_bytes
.Lsame_row_block_8_float:
    SPARSE_BLOCK_8_FLOAT block_8_float $w_p

DEF_STACK_USAGE 0 .text.StaticSparseDenseMatMulBlock_8x8_float_float
SPARSE_BLOCK_SUPERVISOR StaticSparseDenseMatMulBlock_8x8_float_float block_8_float 1 0 same_row LOAD_WEIGHTS_ONE_SET 8 4

    SPARSE_BLOCK_COLUMNS block_16_float 64 64 3
    .align 8
.Lrow_block_16_float:
    add         $w_out, $w_out, $w_row_bytes
.Lsame_row_block_16_float:
    SPARSE_BLOCK_16_FLOAT block_16_float $w_p

DEF_STACK_USAGE 0 .text.StaticSparseDenseMatMulBlock_16x16_float_float
SPARSE_BLOCK_SUPERVISOR StaticSparseDenseMatMulBlock_16x16_float_float block_16_float 2 32 same_row LOAD_WEIGHTS_TWO_SETS 16 4 8

#endif
