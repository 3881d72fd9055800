// SPDX-License-Identifier: MIT
// Block-sparse times dense in FP32, one set of the matrix unit. Vertex state: sparse_dense_block.h.
//
//   StaticSparseDenseMatMulBlock_4x4_float_float    four steps a column
//   StaticSparseDenseMatMulBlock_8x8_float_float    eight steps a column
//   StaticSparseDenseMatMulBlock_16x16_float_float  four weight loads a block, 8 x 8 each, outputs before inputs; eight steps a column
//
// Partials enter and results leave in every other step. Blocks of 16 x 16: [half][output of 16][input of 8].
// Timing, worker issues of a further column: 6 (4x4), 12 (8x8), 4 * 12 (16x16).
#ifdef __IPU__

#include "conv_partials.h"
#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"

// What a round takes and gives: inputs of two steps, partials and results of a pair of steps
#define INPUTS $w_x_0 $w_x_1
#define NO_INPUTS $azero $azero
#define PARTIALS $w_p
#define NO_PARTIALS $azeros
#define RESULTS $w_even $w_odd
#define NO_RESULTS $azeros $azeros
#include "sparse_dense_block.h"
#include "sparse_dense_block_one_set.h"

.macro STEP_LOAD_X PHASE X P RESULT BY=1
    { ld64step $w_x, $mzero, $w_dense+=, \BY ; f32sisoamp \RESULT, \X, \P, \PHASE }
.endm
.macro STEP_LOAD_P PHASE X P RESULT BY=1
    { ld64step $w_p, $mzero, $w_in_p+=, \BY ; f32sisoamp \RESULT, \X, \P, \PHASE }
.endm
.macro STEP_ALONE PHASE X P RESULT
    { nop ; f32sisoamp \RESULT, \X, \P, \PHASE }
.endm
.macro STORE_PAIRS BY
    { st64step $w_even, $mzero, $w_out_now+=, 1 ; fnop }
    { st64step $w_odd, $mzero, $w_out_now+=, \BY ; fnop }
.endm

// Four steps on inputs of four. X_BY, P_BY: from the last words of a column to the next one's.
.macro FOUR_STEPS A B C D X0 X1 P R0 R1 X_BY P_BY
    STEP_LOAD_P \A \X0 \P \R0 \P_BY
    STEP_LOAD_X \B \X1 $azeros $azeros \X_BY
    STEP_LOAD_P \C \X0 \P \R1
    STEP_LOAD_X \D \X1 $azeros $azeros
.endm
.macro ENTER_STEPS A B C D P_BY
    STEP_LOAD_P \A $azero $w_p $azeros \P_BY
    STEP_ALONE  \B $azero $azeros $azeros
    STEP_LOAD_P \C $azero $w_p $azeros
    STEP_ALONE  \D $azero $azeros $azeros
.endm

#define E2 TAMP_F32_E2_P0 TAMP_F32_E2_P1 TAMP_F32_E2_P2 TAMP_F32_E2_P3
#define E4_FIRST TAMP_F32_E4_P0 TAMP_F32_E4_P1 TAMP_F32_E4_P2 TAMP_F32_E4_P3
#define E4_SECOND TAMP_F32_E4_P4 TAMP_F32_E4_P5 TAMP_F32_E4_P6 TAMP_F32_E4_P7

.macro ENTER_4
    ld64step    $w_p, $mzero, $w_in_p+=, 1
    ENTER_STEPS E2 1
    ld64step    $w_x, $mzero, $w_dense+=, 1
.endm
.macro ROUND_4 X0 X1 P R0 R1
    FOUR_STEPS  E2 \X0 \X1 \P \R0 \R1 1 1
.endm
.macro STORE_4
    STORE_PAIRS 1
.endm

// What the first four steps give is stored behind them, if it is a result.
.macro EIGHT_STEPS X0 X1 P R0 R1 X_BY P_BY
    FOUR_STEPS  E4_FIRST \X0 \X1 \P \R0 \R1 1 1
.ifnc \R0, $azeros
    STORE_PAIRS 1
.endif
    FOUR_STEPS  E4_SECOND \X0 \X1 \P \R0 \R1 \X_BY \P_BY
.endm

.macro ENTER_8
    ld64step    $w_p, $mzero, $w_in_p+=, 1
    ENTER_STEPS E4_FIRST 1
    ENTER_STEPS E4_SECOND 1
    ld64step    $w_x, $mzero, $w_dense+=, 1
.endm
.macro ROUND_8 X0 X1 P R0 R1
    EIGHT_STEPS \X0 \X1 \P \R0 \R1 1 1
.endm
.macro STORE_8
    STORE_PAIRS 1
.endm

// Half of a column's inputs and outputs: the other half lies between it and the next column's.
.macro ENTER_16
    ld64step    $w_p, $mzero, $w_in_p+=, 1
    ENTER_STEPS E4_FIRST 1
    ENTER_STEPS E4_SECOND 5
    ld64step    $w_x, $mzero, $w_dense+=, 1
.endm
.macro ROUND_16 X0 X1 P R0 R1
    EIGHT_STEPS \X0 \X1 \P \R0 \R1 5 5
.endm
.macro STORE_16
    STORE_PAIRS 5
.endm

    SPARSE_BLOCK_COLUMNS block_4_float 16 16 1
    .align 8
.Lrow_block_4_float:
    add         $w_out, $w_out, $w_row_bytes
.Lsame_row_block_4_float:
    mov         $w_out_now, $w_out
    add         $w_dense, $mvertex_base, $w_dense_offset
    SPARSE_BLOCK_ONE_SET_COLUMNS block_4_float 4

DEF_STACK_USAGE 0 .text.StaticSparseDenseMatMulBlock_4x4_float_float
SPARSE_BLOCK_SUPERVISOR StaticSparseDenseMatMulBlock_4x4_float_float block_4_float 1 0 same_row LOAD_WEIGHTS_ONE_SET 4 2

    SPARSE_BLOCK_COLUMNS block_8_float 32 32 1
    .align 8
.Lrow_block_8_float:
    add         $w_out, $w_out, $w_row_bytes
.Lsame_row_block_8_float:
    mov         $w_out_now, $w_out
    add         $w_dense, $mvertex_base, $w_dense_offset
    SPARSE_BLOCK_ONE_SET_COLUMNS block_8_float 8

DEF_STACK_USAGE 0 .text.StaticSparseDenseMatMulBlock_8x8_float_float
SPARSE_BLOCK_SUPERVISOR StaticSparseDenseMatMulBlock_8x8_float_float block_8_float 1 0 same_row LOAD_WEIGHTS_ONE_SET 8 4

// Pass p: inputs of half p / 2, outputs of half p mod 2.
    SPARSE_BLOCK_COLUMNS block_16_float 64 64 1
    .align 8
.Lrow_block_16_float:
    add         $w_out, $w_out, $w_row_bytes
.Lsame_row_block_16_float:
    mov         $w_pass, $mzero
    bri         .Lpass_block_16_float
.Lnext_block_16_float:
    add         $w_pass, $w_pass, 1
.Lpass_block_16_float:
    and         $w_left, $w_pass, 1
    shl         $w_left, $w_left, 5
    add         $w_out_now, $w_out, $w_left
    shr         $w_left, $w_pass, 1
    shl         $w_left, $w_left, 5
    add         $w_dense, $w_dense_offset, $w_left
    add         $w_dense, $mvertex_base, $w_dense
    SPARSE_BLOCK_ONE_SET_COLUMNS block_16_float 16

DEF_STACK_USAGE 0 .text.StaticSparseDenseMatMulBlock_16x16_float_float
SPARSE_BLOCK_SUPERVISOR StaticSparseDenseMatMulBlock_16x16_float_float block_16_float 4 0 next LOAD_WEIGHTS_ONE_SET 8 4

#endif
