// SPDX-License-Identifier: MIT
// Block-sparse times dense in FP32. Vertex state: sparse_dense_block.h.
//
//   StaticSparseDenseMatMulBlock_4x4_float_float    both sets, one engine each: four steps a column. With a chain of one engine partials
//       enter where they are needed at once: in the last two steps, results leave in the first two
//   StaticSparseDenseMatMulBlock_8x8_float_float    one set, eight steps a column: partials enter and results leave in every other one,
//       loads and stores take turns; the first column enters and the last one leaves by f32v2gina
//   StaticSparseDenseMatMulBlock_16x16_float_float  both sets; a block is two 16 x 8 halves, eight steps a column each. A result is stored two
//       steps after it left, so that the load of partials is an odd number of words ahead of the store
//
// Blocks of 16 x 16: [half][output of 16][input of 8].
// Timing, worker issues with n > 2 columns: 4 n + 12 (4x4), 8 n + 15 (8x8), 2 (8 n + 25) (16x16); one or two more in a row's first block.
#ifdef __IPU__

#include "conv_partials.h"
#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "sparse_dense_block.h"

#define w_x a0:1
#define w_x_0 a0
#define w_x_1 a1
#define w_p a2:3
#define w_xp a0:3
#define w_even a4:5
#define w_odd a6:7

// One step of AMP; FLAG: engines and phase.
.macro STEP AMP FLAG X P RESULT MAIN:vararg
    { \MAIN ; \AMP \RESULT, \X, \P, \FLAG }
.endm
.macro LOAD_STEP AMP FLAG X P RESULT IN PARTIAL
    { ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(\IN, \PARTIAL) ; \AMP \RESULT, \X, \P, \FLAG }
.endm
.macro STORE_STEP AMP FLAG X P STORED RESULT
    { st64pace  \STORED, $w_triple+=, $mzero, NEXT ; \AMP \RESULT, \X, \P, \FLAG }
.endm

    SPARSE_BLOCK_COLUMNS block_4_float 16 16 3
    .align 8
.Lrow_block_4_float:
    add         $w_out, $w_out, $w_row_bytes
.Lsame_row_block_4_float:
    add         $w_dense, $mvertex_base, $w_dense_offset
    brneg       $w_columns, .Lfew_block_4_float
    tapack      $w_triple, $w_dense, $w_out, $w_out
    // the first column's partials enter by themselves
    ld2x64pace  $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT)
    STEP        f32sisov2amp TAMP_F32_E1_P2 $azero $w_p $azeros ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(NEXT, NEXT)
    STEP        f32sisov2amp TAMP_F32_E1_P3 $azero $w_p $azeros nop
    STEP        f32sisov2amp TAMP_F32_E1_P0 $w_x_0 $azeros $azeros nop
    STEP        f32sisov2amp TAMP_F32_E1_P1 $w_x_1 $azeros $azeros ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT)
    STEP        f32sisov2amp TAMP_F32_E1_P2 $w_x_0 $w_p $azeros ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(NEXT, NEXT)
    STEP        f32sisov2amp TAMP_F32_E1_P3 $w_x_1 $w_p $azeros ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(NEXT, STILL)
    STEP        f32sisov2amp TAMP_F32_E1_P0 $w_x_0 $azeros $w_even nop
    STEP        f32sisov2amp TAMP_F32_E1_P1 $w_x_1 $azeros $w_odd ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT)
    STEP        f32sisov2amp TAMP_F32_E1_P2 $w_x_0 $w_p $azeros ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(NEXT, NEXT)
    STEP        f32sisov2amp TAMP_F32_E1_P3 $w_x_1 $w_p $azeros ldst64pace $w_x, $w_even, $w_triple+=, $mzero, PXP(NEXT, NEXT)
    .align 8
    { rpt       $w_columns, (2f - 1f) / 8 - 1 ; fnop }
1:
    STEP        f32sisov2amp TAMP_F32_E1_P0 $w_x_0 $azeros $w_even st64pace $w_odd, $w_triple+=, $mzero, NEXT
    STEP        f32sisov2amp TAMP_F32_E1_P1 $w_x_1 $azeros $w_odd ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT)
    STEP        f32sisov2amp TAMP_F32_E1_P2 $w_x_0 $w_p $azeros ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(NEXT, NEXT)
    STEP        f32sisov2amp TAMP_F32_E1_P3 $w_x_1 $w_p $azeros ldst64pace $w_x, $w_even, $w_triple+=, $mzero, PXP(NEXT, NEXT)
2:
    STEP        f32sisov2amp TAMP_F32_E1_P0 $w_x_0 $azeros $w_even st64pace $w_odd, $w_triple+=, $mzero, NEXT
    STEP        f32sisov2amp TAMP_F32_E1_P1 $w_x_1 $azeros $w_odd ldst64pace $w_x, $w_even, $w_triple+=, $mzero, PXP(NEXT, NEXT)
    STEP        f32sisov2amp TAMP_F32_E1_P2 $w_x_0 $azeros $azeros nop
    STEP        f32sisov2amp TAMP_F32_E1_P3 $w_x_1 $azeros $azeros nop
    STEP        f32sisov2amp TAMP_F32_E1_P0 $azero $azeros $w_even st64pace $w_odd, $w_triple+=, $mzero, NEXT
    STEP        f32sisov2amp TAMP_F32_E1_P1 $azero $azeros $w_odd st64pace $w_even, $w_triple+=, $mzero, NEXT
    st64pace    $w_odd, $w_triple+=, $mzero, NEXT
    exitz       $mzero

// Fewer than three columns: one after the other.
.Lfew_block_4_float:
    add         $w_left, $w_columns, 2
    brneg       $w_left, .Lnone_block_4_float
    mov         $w_out_now, $w_out
.Lcolumn_block_4_float:
    ld64        $w_p, $w_out_now, $mzero, 0
    STEP        f32sisov2amp TAMP_F32_E1_P2 $azero $w_p $azeros ld64 $w_p, $w_out_now, $mzero, 1
    STEP        f32sisov2amp TAMP_F32_E1_P3 $azero $w_p $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        f32sisov2amp TAMP_F32_E1_P0 $w_x_0 $azeros $azeros nop
    STEP        f32sisov2amp TAMP_F32_E1_P1 $w_x_1 $azeros $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        f32sisov2amp TAMP_F32_E1_P2 $w_x_0 $azeros $azeros nop
    STEP        f32sisov2amp TAMP_F32_E1_P3 $w_x_1 $azeros $azeros nop
    STEP        f32sisov2amp TAMP_F32_E1_P0 $azero $azeros $w_even nop
    STEP        f32sisov2amp TAMP_F32_E1_P1 $azero $azeros $w_odd st64step $w_even, $mzero, $w_out_now+=, 1
    st64step    $w_odd, $mzero, $w_out_now+=, 1
    brnzdec     $w_left, .Lcolumn_block_4_float
.Lnone_block_4_float:
    exitz       $mzero

DEF_STACK_USAGE 0 .text.StaticSparseDenseMatMulBlock_4x4_float_float
SPARSE_BLOCK_SUPERVISOR StaticSparseDenseMatMulBlock_4x4_float_float block_4_float 1 0 same_row LOAD_WEIGHTS_TWO_SETS 4 2 8

    SPARSE_BLOCK_COLUMNS block_8_float 32 32 3
    .align 8
.Lrow_block_8_float:
    add         $w_out, $w_out, $w_row_bytes
.Lsame_row_block_8_float:
    add         $w_dense, $mvertex_base, $w_dense_offset
    brneg       $w_columns, .Lfew_block_8_float
    tapack      $w_triple, $w_dense, $w_out, $w_out
    // the first column's partials enter by themselves
    ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT)
    { ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT) ; f32v2gina $azeros, $w_p, 1 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT) ; f32v2gina $azeros, $w_p, 1 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT) ; f32v2gina $azeros, $w_p, 1 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(NEXT, NEXT) ; f32v2gina $azeros, $w_p, 1 }
    STEP        f32sisoamp TAMP_F32_E4_P0 $w_x_0 $w_p $azeros nop
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P1 $w_x_1 $azeros $azeros NEXT NEXT
    STEP        f32sisoamp TAMP_F32_E4_P2 $w_x_0 $w_p $azeros nop
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P3 $w_x_1 $azeros $azeros NEXT NEXT
    STEP        f32sisoamp TAMP_F32_E4_P4 $w_x_0 $w_p $azeros nop
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P5 $w_x_1 $azeros $azeros NEXT NEXT
    STEP        f32sisoamp TAMP_F32_E4_P6 $w_x_0 $w_p $azeros nop
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P7 $w_x_1 $azeros $azeros NEXT NEXT
    STEP        f32sisoamp TAMP_F32_E4_P0 $w_x_0 $w_p $w_even nop
    .align 8
    { rpt       $w_columns, (2f - 1f) / 8 - 1 ; fnop }
1:
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P1 $w_x_1 $azeros $azeros NEXT NEXT
    STORE_STEP  f32sisoamp TAMP_F32_E4_P2 $w_x_0 $w_p $w_even $w_even
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P3 $w_x_1 $azeros $azeros NEXT NEXT
    STORE_STEP  f32sisoamp TAMP_F32_E4_P4 $w_x_0 $w_p $w_even $w_even
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P5 $w_x_1 $azeros $azeros NEXT NEXT
    STORE_STEP  f32sisoamp TAMP_F32_E4_P6 $w_x_0 $w_p $w_even $w_even
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P7 $w_x_1 $azeros $azeros NEXT NEXT
    STORE_STEP  f32sisoamp TAMP_F32_E4_P0 $w_x_0 $w_p $w_even $w_even
2:
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P1 $w_x_1 $azeros $azeros NEXT NEXT
    STORE_STEP  f32sisoamp TAMP_F32_E4_P2 $w_x_0 $w_p $w_even $w_even
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P3 $w_x_1 $azeros $azeros NEXT NEXT
    STORE_STEP  f32sisoamp TAMP_F32_E4_P4 $w_x_0 $w_p $w_even $w_even
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P5 $w_x_1 $azeros $azeros NEXT STILL
    STORE_STEP  f32sisoamp TAMP_F32_E4_P6 $w_x_0 $w_p $w_even $w_even
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P7 $w_x_1 $azeros $azeros NEXT STILL
    STORE_STEP  f32sisoamp TAMP_F32_E4_P0 $w_x_0 $azeros $w_even $w_even
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P1 $w_x_1 $azeros $azeros NEXT STILL
    STORE_STEP  f32sisoamp TAMP_F32_E4_P2 $w_x_0 $azeros $w_even $w_even
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P3 $w_x_1 $azeros $azeros NEXT STILL
    STORE_STEP  f32sisoamp TAMP_F32_E4_P4 $w_x_0 $azeros $w_even $w_even
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P5 $w_x_1 $azeros $azeros NEXT STILL
    STORE_STEP  f32sisoamp TAMP_F32_E4_P6 $w_x_0 $azeros $w_even $w_even
    STEP        f32sisoamp TAMP_F32_E4_P7 $w_x_1 $azeros $azeros nop
    // the last column leaves where it was added up
    { st64pace  $w_even, $w_triple+=, $mzero, NEXT ; f32v2gina $w_even, $azeros, 0 }
    { st64pace  $w_even, $w_triple+=, $mzero, NEXT ; f32v2gina $w_even, $azeros, 0 }
    { st64pace  $w_even, $w_triple+=, $mzero, NEXT ; f32v2gina $w_even, $azeros, 0 }
    { st64pace  $w_even, $w_triple+=, $mzero, NEXT ; f32v2gina $w_even, $azeros, 0 }
    st64pace    $w_even, $w_triple+=, $mzero, NEXT
    exitz       $mzero

// Fewer than three columns: one after the other.
.Lfew_block_8_float:
    add         $w_left, $w_columns, 2
    brneg       $w_left, .Lnone_block_8_float
    mov         $w_out_now, $w_out
.Lcolumn_block_8_float:
    ld64        $w_p, $w_out_now, $mzero, 0
    { ld64 $w_p, $w_out_now, $mzero, 1 ; f32v2gina $azeros, $w_p, 1 }
    { ld64 $w_p, $w_out_now, $mzero, 2 ; f32v2gina $azeros, $w_p, 1 }
    { ld64 $w_p, $w_out_now, $mzero, 3 ; f32v2gina $azeros, $w_p, 1 }
    { ld64step $w_x, $mzero, $w_dense+=, 1 ; f32v2gina $azeros, $w_p, 1 }
    STEP        f32sisoamp TAMP_F32_E4_P0 $w_x_0 $azeros $azeros nop
    STEP        f32sisoamp TAMP_F32_E4_P1 $w_x_1 $azeros $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        f32sisoamp TAMP_F32_E4_P2 $w_x_0 $azeros $azeros nop
    STEP        f32sisoamp TAMP_F32_E4_P3 $w_x_1 $azeros $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        f32sisoamp TAMP_F32_E4_P4 $w_x_0 $azeros $azeros nop
    STEP        f32sisoamp TAMP_F32_E4_P5 $w_x_1 $azeros $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        f32sisoamp TAMP_F32_E4_P6 $w_x_0 $azeros $azeros nop
    STEP        f32sisoamp TAMP_F32_E4_P7 $w_x_1 $azeros $azeros nop
    { nop ; f32v2gina $w_even, $azeros, 0 }
    { st64step $w_even, $mzero, $w_out_now+=, 1 ; f32v2gina $w_even, $azeros, 0 }
    { st64step $w_even, $mzero, $w_out_now+=, 1 ; f32v2gina $w_even, $azeros, 0 }
    { st64step $w_even, $mzero, $w_out_now+=, 1 ; f32v2gina $w_even, $azeros, 0 }
    st64step    $w_even, $mzero, $w_out_now+=, 1
    brnzdec     $w_left, .Lcolumn_block_8_float
.Lnone_block_8_float:
    exitz       $mzero

DEF_STACK_USAGE 0 .text.StaticSparseDenseMatMulBlock_8x8_float_float
SPARSE_BLOCK_SUPERVISOR StaticSparseDenseMatMulBlock_8x8_float_float block_8_float 1 0 same_row LOAD_WEIGHTS_ONE_SET 8 4

// fields of the stride register of the 16x16 blocks: over the other half of a dense column, or none
#define SKIP 1
#define STAY 2
#define w_strides m10

.macro LOAD_STEP_16 FLAG X RESULT IN
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(\IN, NEXT) ; f32sisov2amp \RESULT, \X, $w_p, \FLAG }
.endm
.macro LOAD_STORE_STEP_16 FLAG X RESULT IN PARTIAL
    { ld2xst64pace $w_xp, \RESULT, $w_triple+=, $w_strides, PXPO(\IN, \PARTIAL, NEXT) ; f32sisov2amp \RESULT, \X, $w_p, \FLAG }
.endm
.macro INPUT_STORE_STEP_16 FLAG X RESULT P IN
    { ldst64pace $w_x, \RESULT, $w_triple+=, $w_strides, PXP(\IN, NEXT) ; f32sisov2amp \RESULT, \X, \P, \FLAG }
.endm

    SPARSE_BLOCK_COLUMNS block_16_float 64 64 3
    .align 8
.Lrow_block_16_float:
    add         $w_out, $w_out, $w_row_bytes
.Lsame_row_block_16_float:
    add         $w_dense, $mvertex_base, $w_dense_offset
    brneg       $w_columns, .Lfew_block_16_float
    tapack      $w_triple, $w_dense, $w_out, $w_out
    setzi       $w_strides, 5
    ld2x64pace  $w_x, $w_p, $w_triple+=, $w_strides, PXP(STAY, NEXT)
    LOAD_STEP_16 TAMP_F32_E4_P0 $azero $azeros STAY
    LOAD_STEP_16 TAMP_F32_E4_P1 $azero $azeros STAY
    LOAD_STEP_16 TAMP_F32_E4_P2 $azero $azeros STAY
    LOAD_STEP_16 TAMP_F32_E4_P3 $azero $azeros STAY
    LOAD_STEP_16 TAMP_F32_E4_P4 $azero $azeros STAY
    LOAD_STEP_16 TAMP_F32_E4_P5 $azero $azeros STAY
    LOAD_STEP_16 TAMP_F32_E4_P6 $azero $azeros STAY
    LOAD_STEP_16 TAMP_F32_E4_P7 $azero $azeros STAY
    LOAD_STEP_16 TAMP_F32_E4_P0 $w_x_0 $azeros NEXT
    LOAD_STEP_16 TAMP_F32_E4_P1 $w_x_1 $azeros STAY
    LOAD_STEP_16 TAMP_F32_E4_P2 $w_x_0 $azeros NEXT
    LOAD_STEP_16 TAMP_F32_E4_P3 $w_x_1 $azeros STAY
    LOAD_STEP_16 TAMP_F32_E4_P4 $w_x_0 $azeros NEXT
    LOAD_STEP_16 TAMP_F32_E4_P5 $w_x_1 $azeros STAY
    LOAD_STEP_16 TAMP_F32_E4_P6 $w_x_0 $azeros SKIP
    LOAD_STEP_16 TAMP_F32_E4_P7 $w_x_1 $azeros STAY
    LOAD_STEP_16 TAMP_F32_E4_P0 $w_x_0 $w_even NEXT
    LOAD_STEP_16 TAMP_F32_E4_P1 $w_x_1 $w_odd STAY
    .align 8
    { rpt       $w_columns, (2f - 1f) / 8 - 1 ; fnop }
1:
    LOAD_STORE_STEP_16 TAMP_F32_E4_P2 $w_x_0 $w_even NEXT NEXT
    LOAD_STORE_STEP_16 TAMP_F32_E4_P3 $w_x_1 $w_odd STAY NEXT
    LOAD_STORE_STEP_16 TAMP_F32_E4_P4 $w_x_0 $w_even NEXT NEXT
    LOAD_STORE_STEP_16 TAMP_F32_E4_P5 $w_x_1 $w_odd STAY NEXT
    LOAD_STORE_STEP_16 TAMP_F32_E4_P6 $w_x_0 $w_even SKIP NEXT
    LOAD_STORE_STEP_16 TAMP_F32_E4_P7 $w_x_1 $w_odd STAY NEXT
    LOAD_STORE_STEP_16 TAMP_F32_E4_P0 $w_x_0 $w_even NEXT NEXT
    LOAD_STORE_STEP_16 TAMP_F32_E4_P1 $w_x_1 $w_odd STAY NEXT
2:
    LOAD_STORE_STEP_16 TAMP_F32_E4_P2 $w_x_0 $w_even NEXT NEXT
    LOAD_STORE_STEP_16 TAMP_F32_E4_P3 $w_x_1 $w_odd STAY NEXT
    LOAD_STORE_STEP_16 TAMP_F32_E4_P4 $w_x_0 $w_even NEXT NEXT
    LOAD_STORE_STEP_16 TAMP_F32_E4_P5 $w_x_1 $w_odd STAY NEXT
    LOAD_STORE_STEP_16 TAMP_F32_E4_P6 $w_x_0 $w_even SKIP STAY
    INPUT_STORE_STEP_16 TAMP_F32_E4_P7 $w_x_1 $w_odd $w_p STAY
    INPUT_STORE_STEP_16 TAMP_F32_E4_P0 $w_x_0 $w_even $azeros NEXT
    INPUT_STORE_STEP_16 TAMP_F32_E4_P1 $w_x_1 $w_odd $azeros STAY
    INPUT_STORE_STEP_16 TAMP_F32_E4_P2 $w_x_0 $w_even $azeros NEXT
    INPUT_STORE_STEP_16 TAMP_F32_E4_P3 $w_x_1 $w_odd $azeros STAY
    INPUT_STORE_STEP_16 TAMP_F32_E4_P4 $w_x_0 $w_even $azeros NEXT
    INPUT_STORE_STEP_16 TAMP_F32_E4_P5 $w_x_1 $w_odd $azeros STAY
    INPUT_STORE_STEP_16 TAMP_F32_E4_P6 $w_x_0 $w_even $azeros STAY
    STORE_STEP  f32sisov2amp TAMP_F32_E4_P7 $w_x_1 $azeros $w_odd $w_odd
    STORE_STEP  f32sisov2amp TAMP_F32_E4_P0 $azero $azeros $w_even $w_even
    STORE_STEP  f32sisov2amp TAMP_F32_E4_P1 $azero $azeros $w_odd $w_odd
    STORE_STEP  f32sisov2amp TAMP_F32_E4_P2 $azero $azeros $w_even $w_even
    STORE_STEP  f32sisov2amp TAMP_F32_E4_P3 $azero $azeros $w_odd $w_odd
    STORE_STEP  f32sisov2amp TAMP_F32_E4_P4 $azero $azeros $w_even $w_even
    STORE_STEP  f32sisov2amp TAMP_F32_E4_P5 $azero $azeros $w_odd $w_odd
    STORE_STEP  f32sisov2amp TAMP_F32_E4_P6 $azero $azeros $w_even $w_even
    STORE_STEP  f32sisov2amp TAMP_F32_E4_P7 $azero $azeros $w_odd $w_odd
    st64pace    $w_even, $w_triple+=, $mzero, NEXT
    st64pace    $w_odd, $w_triple+=, $mzero, NEXT
    exitz       $mzero

// Fewer than three columns: one after the other.
.Lfew_block_16_float:
    add         $w_left, $w_columns, 2
    brneg       $w_left, .Lnone_block_16_float
    mov         $w_out_now, $w_out
.Lcolumn_block_16_float:
    ld64        $w_p, $w_out_now, $mzero, 0
    STEP        f32sisov2amp TAMP_F32_E4_P0 $azero $w_p $azeros ld64 $w_p, $w_out_now, $mzero, 1
    STEP        f32sisov2amp TAMP_F32_E4_P1 $azero $w_p $azeros ld64 $w_p, $w_out_now, $mzero, 2
    STEP        f32sisov2amp TAMP_F32_E4_P2 $azero $w_p $azeros ld64 $w_p, $w_out_now, $mzero, 3
    STEP        f32sisov2amp TAMP_F32_E4_P3 $azero $w_p $azeros ld64 $w_p, $w_out_now, $mzero, 4
    STEP        f32sisov2amp TAMP_F32_E4_P4 $azero $w_p $azeros ld64 $w_p, $w_out_now, $mzero, 5
    STEP        f32sisov2amp TAMP_F32_E4_P5 $azero $w_p $azeros ld64 $w_p, $w_out_now, $mzero, 6
    STEP        f32sisov2amp TAMP_F32_E4_P6 $azero $w_p $azeros ld64 $w_p, $w_out_now, $mzero, 7
    STEP        f32sisov2amp TAMP_F32_E4_P7 $azero $w_p $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        f32sisov2amp TAMP_F32_E4_P0 $w_x_0 $azeros $azeros nop
    STEP        f32sisov2amp TAMP_F32_E4_P1 $w_x_1 $azeros $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        f32sisov2amp TAMP_F32_E4_P2 $w_x_0 $azeros $azeros nop
    STEP        f32sisov2amp TAMP_F32_E4_P3 $w_x_1 $azeros $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        f32sisov2amp TAMP_F32_E4_P4 $w_x_0 $azeros $azeros nop
    STEP        f32sisov2amp TAMP_F32_E4_P5 $w_x_1 $azeros $azeros ld64step $w_x, $mzero, $w_dense+=, 5
    STEP        f32sisov2amp TAMP_F32_E4_P6 $w_x_0 $azeros $azeros nop
    STEP        f32sisov2amp TAMP_F32_E4_P7 $w_x_1 $azeros $azeros nop
    STEP        f32sisov2amp TAMP_F32_E4_P0 $azero $azeros $w_even nop
    STEP        f32sisov2amp TAMP_F32_E4_P1 $azero $azeros $w_odd st64step $w_even, $mzero, $w_out_now+=, 1
    STEP        f32sisov2amp TAMP_F32_E4_P2 $azero $azeros $w_even st64step $w_odd, $mzero, $w_out_now+=, 1
    STEP        f32sisov2amp TAMP_F32_E4_P3 $azero $azeros $w_odd st64step $w_even, $mzero, $w_out_now+=, 1
    STEP        f32sisov2amp TAMP_F32_E4_P4 $azero $azeros $w_even st64step $w_odd, $mzero, $w_out_now+=, 1
    STEP        f32sisov2amp TAMP_F32_E4_P5 $azero $azeros $w_odd st64step $w_even, $mzero, $w_out_now+=, 1
    STEP        f32sisov2amp TAMP_F32_E4_P6 $azero $azeros $w_even st64step $w_odd, $mzero, $w_out_now+=, 1
    STEP        f32sisov2amp TAMP_F32_E4_P7 $azero $azeros $w_odd st64step $w_even, $mzero, $w_out_now+=, 1
    st64step    $w_odd, $mzero, $w_out_now+=, 1
    brnzdec     $w_left, .Lcolumn_block_16_float
.Lnone_block_16_float:
    exitz       $mzero

DEF_STACK_USAGE 0 .text.StaticSparseDenseMatMulBlock_16x16_float_float
SPARSE_BLOCK_SUPERVISOR StaticSparseDenseMatMulBlock_16x16_float_float block_16_float 2 32 same_row LOAD_WEIGHTS_TWO_SETS 16 4 8

#endif
