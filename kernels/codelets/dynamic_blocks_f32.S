// SPDX-License-Identifier: MIT
// Block-sparse times dense with the pattern in buckets, FP16 data, FP32 partials: one set of the matrix unit.
//
//   dynamic_block4_f32, dynamic_block8_f32       2 and 4 steps a column
//   dynamic_block16_f32                          two weight loads a block, for eight outputs each; 4 steps a column
//   dynamic_block4_input_f32, ...
//
// State and supervisor: dynamic_blocks.inc. Worker code of a block: published/sparse_dense_block_half_float.h.
// Timing, worker issues of a block with n > 3 columns: 2 n + 15 (4), 4 n + 19 (8), 2 (4 n + 20) (16).
#ifdef __IPU__

#include "conv_partials.h"
#include "poplar/TileConstants.hpp"
#include "sparse_dense_block.h"
#include "sparse_dense_block_half_float.h"
#include "dynamic_blocks.inc"

    DYNAMIC_BLOCKS 4 f32 SPARSE_BLOCK_4_HALF_FLOAT_AT $w_out_now 8 16 4 5 LOAD_WEIGHTS_ONE_SET 4 1
    DYNAMIC_BLOCKS 8 f32 SPARSE_BLOCK_8_HALF_FLOAT_AT $w_out_now 16 32 3 7 LOAD_WEIGHTS_ONE_SET 8 2

// Outputs of the two weight loads lie beside each other in a column.
.macro BLOCK_16_WORKER NAME PASS
    DYNAMIC_BLOCK_COLUMNS \NAME 32 64 3 5<<10
    .align 8
.Lblock_of_\NAME:
    \PASS\()_OUT $w_out_now
    bri         .Lhalf_of_\NAME
.Lsecond_of_\NAME:
    \PASS\()_OUT $w_out_now
    add         $w_out_now, $w_out_now, 32
.Lhalf_of_\NAME:
    \PASS\()_DENSE $w_out_now
    SPARSE_BLOCK_16_HALF_FLOAT_AT \NAME $w_p
.endm

    BLOCK_16_WORKER dynamic_block16_f32 PRODUCT
    DYNAMIC_BLOCK_SUPERVISOR dynamic_block16_f32 STATE_OUT 64 STATE_DENSE 32 9 2 LOAD_WEIGHTS_ONE_SET 8 4
    BLOCK_16_WORKER dynamic_block16_input_f32 INPUT
    DYNAMIC_BLOCK_SUPERVISOR dynamic_block16_input_f32 STATE_DENSE 32 STATE_OUT 64 9 2 LOAD_WEIGHTS_ONE_SET 8 4

#endif
