// SPDX-License-Identifier: MIT
// Block-sparse times dense with the pattern in buckets, FP32 data and partials. FP32 blocks of 16 are cut to 8.
//
//   dynamic_block4_single          both sets of the matrix unit, 4 steps a column
//   dynamic_block8_single          one set, 8 steps a column
// With DYNAMIC_INPUT: dynamic_block4_input_single, dynamic_block8_input_single.
//
// State and supervisor: dynamic_blocks.inc. Worker code of a block: published/sparse_dense_block_float.h.
// Timing, worker issues of a block with n > 2 columns: 4 n + 13 (4), 8 n + 17 (8).
#ifdef __IPU__

#include "conv_partials.h"
#include "poplar/TileConstants.hpp"
#include "sparse_dense_block.h"
#include "sparse_dense_block_float.h"
#include "dynamic_blocks.inc"

    DYNAMIC_BLOCKS ENTRY(4, single) SPARSE_BLOCK_4_FLOAT_AT $w_out 16 16 3 6 LOAD_WEIGHTS_TWO_SETS 4 2 8
    DYNAMIC_BLOCKS ENTRY(8, single) SPARSE_BLOCK_8_FLOAT_AT $w_out 32 32 3 8 LOAD_WEIGHTS_ONE_SET 8 4

#endif
