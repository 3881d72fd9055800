// SPDX-License-Identifier: MIT
// Block-sparse times dense, blocks of 4 and 8, FP32 partials: one set of the matrix unit.
//
//   spmm_block4_f32, spmm_block8_f32
//
// Vertex state, list and timing are those of published/sparse_dense_block_half_float.S, whose worker code this is, but the first
// block of a row starts from zero: nothing of `out` need be written before. Exactly: spmm_blocks_cost.h.
#ifdef __IPU__

#include "conv_partials.h"
#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "sparse_dense_block.h"
#include "sparse_dense_block_half_float.h"
#include "spmm_blocks.inc"

    SPMM_BLOCKS spmm_block4_f32 SPARSE_BLOCK_4_HALF_FLOAT 8 16 4
    SPARSE_BLOCK_SUPERVISOR spmm_block4_f32 spmm_block4_f32 1 0 same_row LOAD_WEIGHTS_ONE_SET 4 1

    SPMM_BLOCKS spmm_block8_f32 SPARSE_BLOCK_8_HALF_FLOAT 16 32 3
    SPARSE_BLOCK_SUPERVISOR spmm_block8_f32 spmm_block8_f32 1 0 same_row LOAD_WEIGHTS_ONE_SET 8 2

#endif
