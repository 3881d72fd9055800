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
    brneg       $w_columns, .Lfew_block_16_half_float
    tapack      $w_triple, $w_dense, $w_out_now, $w_out_now
    ld2x64pace  $w_x, $w_p, $w_triple+=, $w_strides, PXP(STAY, NEXT)
    LOAD_STEP   TAMP_F16V4_E4_P0 $azeros $azeros STAY NEXT $w_p
    LOAD_STEP   TAMP_F16V4_E4_P1 $azeros $azeros STAY NEXT $w_p
    LOAD_STEP   TAMP_F16V4_E4_P2 $azeros $azeros STAY SKIP $w_p
    LOAD_STEP   TAMP_F16V4_E4_P3 $azeros $azeros NEXT NEXT $w_p
    LOAD_STEP   TAMP_F16V4_E4_P0 $w_x $azeros NEXT NEXT $w_p
    LOAD_STEP   TAMP_F16V4_E4_P1 $w_x $azeros NEXT NEXT $w_p
    LOAD_STEP   TAMP_F16V4_E4_P2 $w_x $azeros NEXT SKIP $w_p
    LOAD_STEP   TAMP_F16V4_E4_P3 $w_x $azeros NEXT NEXT $w_p
    LOAD_STEP   TAMP_F16V4_E4_P0 $w_x $w_even NEXT NEXT $w_p
    LOAD_STEP   TAMP_F16V4_E4_P1 $w_x $w_odd NEXT NEXT $w_p
    .align 8
    { rpt       $w_columns, (2f - 1f) / 8 - 1 ; fnop }
1:
    LOAD_STORE_STEP TAMP_F16V4_E4_P2 $w_x $w_even NEXT SKIP NEXT $w_p
    LOAD_STORE_STEP TAMP_F16V4_E4_P3 $w_x $w_odd NEXT NEXT NEXT $w_p
    LOAD_STORE_STEP TAMP_F16V4_E4_P0 $w_x $w_even NEXT NEXT NEXT $w_p
    LOAD_STORE_STEP TAMP_F16V4_E4_P1 $w_x $w_odd NEXT NEXT SKIP $w_p
2:
    LOAD_STORE_STEP TAMP_F16V4_E4_P2 $w_x $w_even NEXT STAY NEXT $w_p
    INPUT_STORE_STEP TAMP_F16V4_E4_P3 $w_x $w_odd $w_p NEXT NEXT
    INPUT_STORE_STEP TAMP_F16V4_E4_P0 $w_x $w_even $azeros NEXT NEXT
    INPUT_STORE_STEP TAMP_F16V4_E4_P1 $w_x $w_odd $azeros NEXT SKIP
    INPUT_STORE_STEP TAMP_F16V4_E4_P2 $w_x $w_even $azeros NEXT NEXT
    STORE_STEP  TAMP_F16V4_E4_P3 $w_x $w_odd NEXT
    STORE_STEP  TAMP_F16V4_E4_P0 $azeros $w_even NEXT
    STORE_STEP  TAMP_F16V4_E4_P1 $azeros $w_odd SKIP
    STORE_STEP  TAMP_F16V4_E4_P2 $azeros $w_even NEXT
    STORE_STEP  TAMP_F16V4_E4_P3 $azeros $w_odd NEXT
    st64pace    $w_even, $w_triple+=, $w_strides, NEXT
    st64pace    $w_odd, $w_triple+=, $w_strides, NEXT
    exitz       $mzero

// Few columns: one after the other.
.Lfew_block_16_half_float:
    add         $w_left, $w_columns, 2
    brneg       $w_left, .Lnone_block_16_half_float
.Lcolumn_block_16_half_float:
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
    st64step    $w_odd, $mzero, $w_out_now+=, 5
    brnzdec     $w_left, .Lcolumn_block_16_half_float
.Lnone_block_16_half_float:
    exitz       $mzero

DEF_STACK_USAGE 0 .text.StaticSparseDenseMatMulBlock_16x16_half_float
SPARSE_BLOCK_SUPERVISOR StaticSparseDenseMatMulBlock_16x16_half_float block_16_half_float 2 0 second_half LOAD_WEIGHTS_ONE_SET 8 4

#endif
