// SPDX-License-Identifier: MIT
// Block-sparse times dense, blocks of 4 and 8, FP16 partials: both sets of the matrix unit.
//
//   spmm_block4_f16, spmm_block8_f16
//
// Vertex state, list and timing are those of published/sparse_dense_block_half.S, whose worker code this is, but the first block
// of a row starts from zero: nothing of `out` need be written before. Exactly: spmm_blocks_cost.h.
#ifdef __IPU__

#include "conv_partials.h"
#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "sparse_dense_block.h"
#include "sparse_dense_block_half.h"
#include "spmm_blocks.inc"

    SPMM_BLOCKS spmm_block4_f16 SPARSE_BLOCK_4_HALF 8 8 6
    SPARSE_BLOCK_SUPERVISOR spmm_block4_f16 spmm_block4_f16 1 0 same_row LOAD_WEIGHTS_4X4

    SPMM_BLOCKS spmm_block8_f16 SPARSE_BLOCK_8_HALF 16 16 4
    SPARSE_BLOCK_SUPERVISOR spmm_block8_f16 spmm_block8_f16 1 0 same_row LOAD_WEIGHTS_TWO_SETS 8 2 8

#endif
