// SPDX-License-Identifier: MIT
// Block-sparse times dense, FP16 inputs and partials, one set of the matrix unit. Vertex state: sparse_dense_block.h.
//
//   StaticSparseDenseMatMulBlock_4x4_half_half    two steps a column, inputs in the first of them
//   StaticSparseDenseMatMulBlock_8x8_half_half    four steps a column, inputs in the first two
//   StaticSparseDenseMatMulBlock_16x16_half_half  two weight loads a block, for eight outputs each; four steps a column
//
// A step takes two partials and gives two results.
// Timing, worker issues of a further column: 3 (4x4), 6 (8x8), 2 * 8 (16x16).
#ifdef __IPU__

#include "conv_partials.h"
#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"

// What a round takes and gives: inputs of a pair, partials of two steps, results of two pairs
#define INPUTS $w_x
#define NO_INPUTS $azeros
#define PARTIALS $w_p_0 $w_p_1
#define NO_PARTIALS $azero $azero
#define RESULTS $w_even_0 $w_even_1 $w_odd_0 $w_odd_1
#define NO_RESULTS $azero $azero $azero $azero
#include "sparse_dense_block.h"
#include "sparse_dense_block_one_set.h"

// A step, and the next words of the inputs or the partials beside it.
.macro STEP_LOAD_X PHASE X P RESULT
    { ld64step $w_x, $mzero, $w_dense+=, 1 ; f16v4hihoamp \RESULT, \X, \P, \PHASE }
.endm
.macro STEP_LOAD_P PHASE X P RESULT BY=1
    { ld64step $w_p, $mzero, $w_in_p+=, \BY ; f16v4hihoamp \RESULT, \X, \P, \PHASE }
.endm

.macro ENTER_4
    ld64step    $w_p, $mzero, $w_in_p+=, 1
    STEP_LOAD_X TAMP_F16V4_E2_P0 $azeros $w_p_0 $azero
    STEP_LOAD_P TAMP_F16V4_E2_P1 $azeros $w_p_1 $azero
.endm
.macro ROUND_4 X P0 P1 R0 R1 R2 R3
    STEP_LOAD_X TAMP_F16V4_E2_P0 \X \P0 \R0
    STEP_LOAD_P TAMP_F16V4_E2_P1 $azeros \P1 \R1
.endm
.macro STORE_4
    { st64step $w_even, $mzero, $w_out_now+=, 1 ; fnop }
.endm

.macro ENTER_8
    ld64step    $w_p, $mzero, $w_in_p+=, 1
    { nop ; f16v4hihoamp $azero, $azeros, $w_p_0, TAMP_F16V4_E4_P0 }
    STEP_LOAD_P TAMP_F16V4_E4_P1 $azeros $w_p_1 $azero
    STEP_LOAD_X TAMP_F16V4_E4_P2 $azeros $w_p_0 $azero
    STEP_LOAD_P TAMP_F16V4_E4_P3 $azeros $w_p_1 $azero
.endm
.macro ROUND_8 X P0 P1 R0 R1 R2 R3
    STEP_LOAD_X TAMP_F16V4_E4_P0 \X \P0 \R0
    STEP_LOAD_P TAMP_F16V4_E4_P1 \X \P1 \R1
    STEP_LOAD_X TAMP_F16V4_E4_P2 $azeros \P0 \R2
    STEP_LOAD_P TAMP_F16V4_E4_P3 $azeros \P1 \R3
.endm
.macro STORE_8
    { st64step $w_even, $mzero, $w_out_now+=, 1 ; fnop }
    { st64step $w_odd, $mzero, $w_out_now+=, 1 ; fnop }
.endm

// Half of a column's outputs: the other half lies between it and the next column's.
.macro ENTER_16
    ld64step    $w_p, $mzero, $w_in_p+=, 1
    { nop ; f16v4hihoamp $azero, $azeros, $w_p_0, TAMP_F16V4_E4_P0 }
    STEP_LOAD_P TAMP_F16V4_E4_P1 $azeros $w_p_1 $azero 3
    STEP_LOAD_X TAMP_F16V4_E4_P2 $azeros $w_p_0 $azero
    STEP_LOAD_P TAMP_F16V4_E4_P3 $azeros $w_p_1 $azero
.endm
.macro ROUND_16 X P0 P1 R0 R1 R2 R3
    STEP_LOAD_X TAMP_F16V4_E4_P0 \X \P0 \R0
    STEP_LOAD_X TAMP_F16V4_E4_P1 \X \P1 \R1
    { ld64step  $w_p, $mzero, $w_in_p+=, 3 ; fnop }
    STEP_LOAD_X TAMP_F16V4_E4_P2 \X \P0 \R2
    STEP_LOAD_X TAMP_F16V4_E4_P3 \X \P1 \R3
    { ld64step  $w_p, $mzero, $w_in_p+=, 1 ; fnop }
.endm
.macro STORE_16
    { st64step $w_even, $mzero, $w_out_now+=, 1 ; fnop }
    { st64step $w_odd, $mzero, $w_out_now+=, 3 ; fnop }
.endm

    SPARSE_BLOCK_COLUMNS block_4_half 8 8 1
    .align 8
.Lrow_block_4_half:
    add         $w_out, $w_out, $w_row_bytes
.Lsame_row_block_4_half:
    mov         $w_out_now, $w_out
    add         $w_dense, $mvertex_base, $w_dense_offset
    SPARSE_BLOCK_ONE_SET_COLUMNS block_4_half 4

DEF_STACK_USAGE 0 .text.StaticSparseDenseMatMulBlock_4x4_half_half
SPARSE_BLOCK_SUPERVISOR StaticSparseDenseMatMulBlock_4x4_half_half block_4_half 1 0 same_row LOAD_WEIGHTS_ONE_SET 4 1

    SPARSE_BLOCK_COLUMNS block_8_half 16 16 1
    .align 8
.Lrow_block_8_half:
    add         $w_out, $w_out, $w_row_bytes
.Lsame_row_block_8_half:
    mov         $w_out_now, $w_out
    add         $w_dense, $mvertex_base, $w_dense_offset
    SPARSE_BLOCK_ONE_SET_COLUMNS block_8_half 8

DEF_STACK_USAGE 0 .text.StaticSparseDenseMatMulBlock_8x8_half_half
SPARSE_BLOCK_SUPERVISOR StaticSparseDenseMatMulBlock_8x8_half_half block_8_half 1 0 same_row LOAD_WEIGHTS_ONE_SET 8 2

    SPARSE_BLOCK_COLUMNS block_16_half 32 32 1
    .align 8
.Lrow_block_16_half:
    add         $w_out, $w_out, $w_row_bytes
.Lsame_row_block_16_half:
    mov         $w_out_now, $w_out
    bri         .Lcolumns_of_half_block_16_half
.Lsecond_half_block_16_half:
    add         $w_out_now, $w_out, 16
.Lcolumns_of_half_block_16_half:
    add         $w_dense, $mvertex_base, $w_dense_offset
    SPARSE_BLOCK_ONE_SET_COLUMNS block_16_half 16

DEF_STACK_USAGE 0 .text.StaticSparseDenseMatMulBlock_16x16_half_half
SPARSE_BLOCK_SUPERVISOR StaticSparseDenseMatMulBlock_16x16_half_half block_16_half 2 0 second_half LOAD_WEIGHTS_ONE_SET 8 4

#endif
