// SPDX-License-Identifier: MIT
// Block-sparse times dense with the pattern in buckets, FP16 data, FP32 partials: one set of the matrix unit.
//
//   dynamic_block4_f32, dynamic_block8_f32       2 and 4 steps a column
//   dynamic_block16_f32                          two weight loads a block, for eight outputs each; 4 steps a column
// With DYNAMIC_INPUT: dynamic_block4_input_f32 and so on.
//
// State and supervisor: dynamic_blocks.inc. Worker code of a block: published/sparse_dense_block_half_float.h.
// Timing, worker issues of a block with n > 3 columns: 2 n + 15 (4), 4 n + 19 (8), 2 (4 n + 20) (16).
#ifdef __IPU__

#include "conv_partials.h"
#include "poplar/TileConstants.hpp"
#include "sparse_dense_block.h"
#include "sparse_dense_block_half_float.h"
#include "dynamic_blocks.inc"

    DYNAMIC_BLOCKS ENTRY(4, f32) SPARSE_BLOCK_4_HALF_FLOAT_AT $w_out_now 8 16 4 5 LOAD_WEIGHTS_ONE_SET 4 1
    DYNAMIC_BLOCKS ENTRY(8, f32) SPARSE_BLOCK_8_HALF_FLOAT_AT $w_out_now 16 32 3 7 LOAD_WEIGHTS_ONE_SET 8 2

// Outputs of the two weight loads lie beside each other in a column.
.macro BLOCKS_16 SYMBOL
    DYNAMIC_BLOCK_COLUMNS \SYMBOL 32 64 3 5<<10
    .align 8
    nop
.Lsecond_of_\SYMBOL:
    BLOCK_OPERANDS $w_out_now
    add         $w_out_now, $w_out_now, 32
    bri         .Lhalf_of_\SYMBOL
.Lblock_of_\SYMBOL:
    BLOCK_OPERANDS $w_out_now
.Lhalf_of_\SYMBOL:
    SPARSE_BLOCK_16_HALF_FLOAT_AT \SYMBOL $w_p
    BLOCK_SUPERVISOR \SYMBOL 32 64 9 2 LOAD_WEIGHTS_ONE_SET 8 4
.endm

    BLOCKS_16 ENTRY(16, f32)

#endif
