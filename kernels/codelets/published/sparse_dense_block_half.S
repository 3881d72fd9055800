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
    add         $w_dense, $mvertex_base, $w_dense_offset
    brneg       $w_columns, .Lfew_block_16_half
    tapack      $w_triple, $w_dense, $w_out, $w_out
    ld2x64pace  $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT)
    LOAD_STEP   TAMP_F16V4_E4_P0 $azeros $azeros STILL NEXT $w_p
    LOAD_STEP   TAMP_F16V4_E4_P1 $azeros $azeros STILL NEXT $w_p
    LOAD_STEP   TAMP_F16V4_E4_P2 $azeros $azeros STILL NEXT $w_p
    LOAD_STEP   TAMP_F16V4_E4_P3 $azeros $azeros NEXT NEXT $w_p
    LOAD_STEP   TAMP_F16V4_E4_P0 $w_x $azeros NEXT NEXT $w_p
    LOAD_STEP   TAMP_F16V4_E4_P1 $w_x $azeros NEXT NEXT $w_p
    LOAD_STEP   TAMP_F16V4_E4_P2 $w_x $azeros NEXT NEXT $w_p
    LOAD_STEP   TAMP_F16V4_E4_P3 $w_x $azeros NEXT NEXT $w_p
    LOAD_STEP   TAMP_F16V4_E4_P0 $w_x $w_even NEXT NEXT $w_p
    LOAD_STEP   TAMP_F16V4_E4_P1 $w_x $w_odd NEXT NEXT $w_p
    .align 8
    { rpt       $w_columns, (2f - 1f) / 8 - 1 ; fnop }
1:
    LOAD_STORE_STEP TAMP_F16V4_E4_P2 $w_even NEXT $w_p
    LOAD_STORE_STEP TAMP_F16V4_E4_P3 $w_odd NEXT $w_p
    LOAD_STORE_STEP TAMP_F16V4_E4_P0 $w_even NEXT $w_p
    LOAD_STORE_STEP TAMP_F16V4_E4_P1 $w_odd NEXT $w_p
2:
    LOAD_STORE_STEP TAMP_F16V4_E4_P2 $w_even STILL $w_p
    INPUT_STORE_STEP TAMP_F16V4_E4_P3 $w_odd $w_p
    INPUT_STORE_STEP TAMP_F16V4_E4_P0 $w_even $azeros
    INPUT_STORE_STEP TAMP_F16V4_E4_P1 $w_odd $azeros
    INPUT_STORE_STEP TAMP_F16V4_E4_P2 $w_even $azeros
    STORE_STEP  TAMP_F16V4_E4_P3 $w_x $w_odd
    STORE_STEP  TAMP_F16V4_E4_P0 $azeros $w_even
    STORE_STEP  TAMP_F16V4_E4_P1 $azeros $w_odd
    STORE_STEP  TAMP_F16V4_E4_P2 $azeros $w_even
    STORE_STEP  TAMP_F16V4_E4_P3 $azeros $w_odd
    st64pace    $w_even, $w_triple+=, $mzero, NEXT
    st64pace    $w_odd, $w_triple+=, $mzero, NEXT
    exitz       $mzero

// Few columns: one after the other.
.Lfew_block_16_half:
    add         $w_left, $w_columns, 2
    brneg       $w_left, .Lnone_block_16_half
    mov         $w_out_now, $w_out
.Lcolumn_block_16_half:
    ld64        $w_p, $w_out_now, $mzero, 0
    STEP        TAMP_F16V4_E4_P0 $azeros $w_p $azeros ld64 $w_p, $w_out_now, $mzero, 1
    STEP        TAMP_F16V4_E4_P1 $azeros $w_p $azeros ld64 $w_p, $w_out_now, $mzero, 2
    STEP        TAMP_F16V4_E4_P2 $azeros $w_p $azeros ld64 $w_p, $w_out_now, $mzero, 3
    STEP        TAMP_F16V4_E4_P3 $azeros $w_p $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        TAMP_F16V4_E4_P0 $w_x $azeros $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        TAMP_F16V4_E4_P1 $w_x $azeros $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        TAMP_F16V4_E4_P2 $w_x $azeros $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        TAMP_F16V4_E4_P3 $w_x $azeros $azeros nop
    STEP        TAMP_F16V4_E4_P0 $azeros $azeros $w_even nop
    STEP        TAMP_F16V4_E4_P1 $azeros $azeros $w_odd st64step $w_even, $mzero, $w_out_now+=, 1
    STEP        TAMP_F16V4_E4_P2 $azeros $azeros $w_even st64step $w_odd, $mzero, $w_out_now+=, 1
    STEP        TAMP_F16V4_E4_P3 $azeros $azeros $w_odd st64step $w_even, $mzero, $w_out_now+=, 1
    st64step    $w_odd, $mzero, $w_out_now+=, 1
    brnzdec     $w_left, .Lcolumn_block_16_half
.Lnone_block_16_half:
    exitz       $mzero

DEF_STACK_USAGE 0 .text.StaticSparseDenseMatMulBlock_16x16_half_half
SPARSE_BLOCK_SUPERVISOR StaticSparseDenseMatMulBlock_16x16_half_half block_16_half 1 0 same_row LOAD_WEIGHTS_TWO_SETS 16 4 8

#endif
