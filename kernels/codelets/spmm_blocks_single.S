// SPDX-License-Identifier: MIT
// Block-sparse times dense in FP32, blocks of 4, 8 and 16.
//
//   spmm_block4_single, spmm_block8_single, spmm_block16_single
//
// Vertex state, list, blocks and timing are those of published/sparse_dense_block_float.S, whose worker code this is, but the first
// block of a row starts from zero: nothing of `out` need be written before. Exactly: spmm_blocks_cost.h.
#ifdef __IPU__

#include "conv_partials.h"
#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "sparse_dense_block.h"
#include "sparse_dense_block_float.h"
#include "spmm_blocks.inc"

    SPMM_BLOCKS spmm_block4_single SPARSE_BLOCK_4_FLOAT 16 16 3
    SPARSE_BLOCK_SUPERVISOR spmm_block4_single spmm_block4_single 1 0 same_row LOAD_WEIGHTS_TWO_SETS 4 2 8

    SPMM_BLOCKS spmm_block8_single SPARSE_BLOCK_8_FLOAT 32 32 3
    SPARSE_BLOCK_SUPERVISOR spmm_block8_single spmm_block8_single 1 0 same_row LOAD_WEIGHTS_ONE_SET 8 4

    SPMM_BLOCKS spmm_block16_single SPARSE_BLOCK_16_FLOAT 64 64 3
    SPARSE_BLOCK_SUPERVISOR spmm_block16_single spmm_block16_single 2 32 same_row LOAD_WEIGHTS_TWO_SETS 16 4 8

#endif
