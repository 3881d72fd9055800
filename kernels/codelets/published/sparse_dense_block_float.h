// SPDX-License-Identifier: MIT
// clang-format off
// Block-sparse times dense in FP32, blocks of 4, 8 and 16: what a worker of a block at its columns, for sources that differ in
// what enters: \P is the partials that were loaded, or zeros, and \NAME ends its labels. Registers and timing:
// sparse_dense_block.h, sparse_dense_block_float.S.
#ifndef TESSERA_PUBLISHED_SPARSE_DENSE_BLOCK_FLOAT_H
#define TESSERA_PUBLISHED_SPARSE_DENSE_BLOCK_FLOAT_H

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

.macro SPARSE_BLOCK_4_FLOAT_AT NAME P
    brneg       $w_columns, .Lfew_\NAME
    tapack      $w_triple, $w_dense, $w_out, $w_out
    // the first column's partials enter by themselves
    ld2x64pace  $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT)
    STEP        f32sisov2amp TAMP_F32_E1_P2 $azero \P $azeros ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(NEXT, NEXT)
    STEP        f32sisov2amp TAMP_F32_E1_P3 $azero \P $azeros nop
    STEP        f32sisov2amp TAMP_F32_E1_P0 $w_x_0 $azeros $azeros nop
    STEP        f32sisov2amp TAMP_F32_E1_P1 $w_x_1 $azeros $azeros ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT)
    STEP        f32sisov2amp TAMP_F32_E1_P2 $w_x_0 \P $azeros ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(NEXT, NEXT)
    STEP        f32sisov2amp TAMP_F32_E1_P3 $w_x_1 \P $azeros ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(NEXT, STILL)
    STEP        f32sisov2amp TAMP_F32_E1_P0 $w_x_0 $azeros $w_even nop
    STEP        f32sisov2amp TAMP_F32_E1_P1 $w_x_1 $azeros $w_odd ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT)
    STEP        f32sisov2amp TAMP_F32_E1_P2 $w_x_0 \P $azeros ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(NEXT, NEXT)
    STEP        f32sisov2amp TAMP_F32_E1_P3 $w_x_1 \P $azeros ldst64pace $w_x, $w_even, $w_triple+=, $mzero, PXP(NEXT, NEXT)
    .align 8
    { rpt       $w_columns, (2f - 1f) / 8 - 1 ; fnop }
1:
    STEP        f32sisov2amp TAMP_F32_E1_P0 $w_x_0 $azeros $w_even st64pace $w_odd, $w_triple+=, $mzero, NEXT
    STEP        f32sisov2amp TAMP_F32_E1_P1 $w_x_1 $azeros $w_odd ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT)
    STEP        f32sisov2amp TAMP_F32_E1_P2 $w_x_0 \P $azeros ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(NEXT, NEXT)
    STEP        f32sisov2amp TAMP_F32_E1_P3 $w_x_1 \P $azeros ldst64pace $w_x, $w_even, $w_triple+=, $mzero, PXP(NEXT, NEXT)
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
.Lfew_\NAME:
    add         $w_left, $w_columns, 2
    brneg       $w_left, .Lnone_\NAME
    mov         $w_out_now, $w_out
.Lcolumn_\NAME:
    ld64        $w_p, $w_out_now, $mzero, 0
    STEP        f32sisov2amp TAMP_F32_E1_P2 $azero \P $azeros ld64 $w_p, $w_out_now, $mzero, 1
    STEP        f32sisov2amp TAMP_F32_E1_P3 $azero \P $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        f32sisov2amp TAMP_F32_E1_P0 $w_x_0 $azeros $azeros nop
    STEP        f32sisov2amp TAMP_F32_E1_P1 $w_x_1 $azeros $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        f32sisov2amp TAMP_F32_E1_P2 $w_x_0 $azeros $azeros nop
    STEP        f32sisov2amp TAMP_F32_E1_P3 $w_x_1 $azeros $azeros nop
    STEP        f32sisov2amp TAMP_F32_E1_P0 $azero $azeros $w_even nop
    STEP        f32sisov2amp TAMP_F32_E1_P1 $azero $azeros $w_odd st64step $w_even, $mzero, $w_out_now+=, 1
    st64step    $w_odd, $mzero, $w_out_now+=, 1
    brnzdec     $w_left, .Lcolumn_\NAME
.Lnone_\NAME:
    exitz       $mzero
.endm

.macro SPARSE_BLOCK_8_FLOAT_AT NAME P
    brneg       $w_columns, .Lfew_\NAME
    tapack      $w_triple, $w_dense, $w_out, $w_out
    // the first column's partials enter by themselves
    ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT)
    { ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT) ; f32v2gina $azeros, \P, 1 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT) ; f32v2gina $azeros, \P, 1 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT) ; f32v2gina $azeros, \P, 1 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(NEXT, NEXT) ; f32v2gina $azeros, \P, 1 }
    STEP        f32sisoamp TAMP_F32_E4_P0 $w_x_0 \P $azeros nop
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P1 $w_x_1 $azeros $azeros NEXT NEXT
    STEP        f32sisoamp TAMP_F32_E4_P2 $w_x_0 \P $azeros nop
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P3 $w_x_1 $azeros $azeros NEXT NEXT
    STEP        f32sisoamp TAMP_F32_E4_P4 $w_x_0 \P $azeros nop
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P5 $w_x_1 $azeros $azeros NEXT NEXT
    STEP        f32sisoamp TAMP_F32_E4_P6 $w_x_0 \P $azeros nop
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P7 $w_x_1 $azeros $azeros NEXT NEXT
    STEP        f32sisoamp TAMP_F32_E4_P0 $w_x_0 \P $w_even nop
    .align 8
    { rpt       $w_columns, (2f - 1f) / 8 - 1 ; fnop }
1:
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P1 $w_x_1 $azeros $azeros NEXT NEXT
    STORE_STEP  f32sisoamp TAMP_F32_E4_P2 $w_x_0 \P $w_even $w_even
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P3 $w_x_1 $azeros $azeros NEXT NEXT
    STORE_STEP  f32sisoamp TAMP_F32_E4_P4 $w_x_0 \P $w_even $w_even
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P5 $w_x_1 $azeros $azeros NEXT NEXT
    STORE_STEP  f32sisoamp TAMP_F32_E4_P6 $w_x_0 \P $w_even $w_even
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P7 $w_x_1 $azeros $azeros NEXT NEXT
    STORE_STEP  f32sisoamp TAMP_F32_E4_P0 $w_x_0 \P $w_even $w_even
2:
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P1 $w_x_1 $azeros $azeros NEXT NEXT
    STORE_STEP  f32sisoamp TAMP_F32_E4_P2 $w_x_0 \P $w_even $w_even
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P3 $w_x_1 $azeros $azeros NEXT NEXT
    STORE_STEP  f32sisoamp TAMP_F32_E4_P4 $w_x_0 \P $w_even $w_even
    LOAD_STEP   f32sisoamp TAMP_F32_E4_P5 $w_x_1 $azeros $azeros NEXT STILL
    STORE_STEP  f32sisoamp TAMP_F32_E4_P6 $w_x_0 \P $w_even $w_even
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
.Lfew_\NAME:
    add         $w_left, $w_columns, 2
    brneg       $w_left, .Lnone_\NAME
    mov         $w_out_now, $w_out
.Lcolumn_\NAME:
    ld64        $w_p, $w_out_now, $mzero, 0
    { ld64 $w_p, $w_out_now, $mzero, 1 ; f32v2gina $azeros, \P, 1 }
    { ld64 $w_p, $w_out_now, $mzero, 2 ; f32v2gina $azeros, \P, 1 }
    { ld64 $w_p, $w_out_now, $mzero, 3 ; f32v2gina $azeros, \P, 1 }
    { ld64step $w_x, $mzero, $w_dense+=, 1 ; f32v2gina $azeros, \P, 1 }
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
    brnzdec     $w_left, .Lcolumn_\NAME
.Lnone_\NAME:
    exitz       $mzero
.endm

// fields of the stride register of the 16x16 blocks: over the other half of a dense column, or none
#define SKIP 1
#define STAY 2

.macro LOAD_STEP_16 FLAG X RESULT IN P
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(\IN, NEXT) ; f32sisov2amp \RESULT, \X, \P, \FLAG }
.endm
.macro LOAD_STORE_STEP_16 FLAG X RESULT IN PARTIAL P
    { ld2xst64pace $w_xp, \RESULT, $w_triple+=, $w_strides, PXPO(\IN, \PARTIAL, NEXT) ; f32sisov2amp \RESULT, \X, \P, \FLAG }
.endm
.macro INPUT_STORE_STEP_16 FLAG X RESULT P IN
    { ldst64pace $w_x, \RESULT, $w_triple+=, $w_strides, PXP(\IN, NEXT) ; f32sisov2amp \RESULT, \X, \P, \FLAG }
.endm

.macro SPARSE_BLOCK_16_FLOAT_AT NAME P
    brneg       $w_columns, .Lfew_\NAME
    tapack      $w_triple, $w_dense, $w_out, $w_out
    setzi       $w_strides, 5
    ld2x64pace  $w_x, $w_p, $w_triple+=, $w_strides, PXP(STAY, NEXT)
    LOAD_STEP_16 TAMP_F32_E4_P0 $azero $azeros STAY \P
    LOAD_STEP_16 TAMP_F32_E4_P1 $azero $azeros STAY \P
    LOAD_STEP_16 TAMP_F32_E4_P2 $azero $azeros STAY \P
    LOAD_STEP_16 TAMP_F32_E4_P3 $azero $azeros STAY \P
    LOAD_STEP_16 TAMP_F32_E4_P4 $azero $azeros STAY \P
    LOAD_STEP_16 TAMP_F32_E4_P5 $azero $azeros STAY \P
    LOAD_STEP_16 TAMP_F32_E4_P6 $azero $azeros STAY \P
    LOAD_STEP_16 TAMP_F32_E4_P7 $azero $azeros STAY \P
    LOAD_STEP_16 TAMP_F32_E4_P0 $w_x_0 $azeros NEXT \P
    LOAD_STEP_16 TAMP_F32_E4_P1 $w_x_1 $azeros STAY \P
    LOAD_STEP_16 TAMP_F32_E4_P2 $w_x_0 $azeros NEXT \P
    LOAD_STEP_16 TAMP_F32_E4_P3 $w_x_1 $azeros STAY \P
    LOAD_STEP_16 TAMP_F32_E4_P4 $w_x_0 $azeros NEXT \P
    LOAD_STEP_16 TAMP_F32_E4_P5 $w_x_1 $azeros STAY \P
    LOAD_STEP_16 TAMP_F32_E4_P6 $w_x_0 $azeros SKIP \P
    LOAD_STEP_16 TAMP_F32_E4_P7 $w_x_1 $azeros STAY \P
    LOAD_STEP_16 TAMP_F32_E4_P0 $w_x_0 $w_even NEXT \P
    LOAD_STEP_16 TAMP_F32_E4_P1 $w_x_1 $w_odd STAY \P
    .align 8
    { rpt       $w_columns, (2f - 1f) / 8 - 1 ; fnop }
1:
    LOAD_STORE_STEP_16 TAMP_F32_E4_P2 $w_x_0 $w_even NEXT NEXT \P
    LOAD_STORE_STEP_16 TAMP_F32_E4_P3 $w_x_1 $w_odd STAY NEXT \P
    LOAD_STORE_STEP_16 TAMP_F32_E4_P4 $w_x_0 $w_even NEXT NEXT \P
    LOAD_STORE_STEP_16 TAMP_F32_E4_P5 $w_x_1 $w_odd STAY NEXT \P
    LOAD_STORE_STEP_16 TAMP_F32_E4_P6 $w_x_0 $w_even SKIP NEXT \P
    LOAD_STORE_STEP_16 TAMP_F32_E4_P7 $w_x_1 $w_odd STAY NEXT \P
    LOAD_STORE_STEP_16 TAMP_F32_E4_P0 $w_x_0 $w_even NEXT NEXT \P
    LOAD_STORE_STEP_16 TAMP_F32_E4_P1 $w_x_1 $w_odd STAY NEXT \P
2:
    LOAD_STORE_STEP_16 TAMP_F32_E4_P2 $w_x_0 $w_even NEXT NEXT \P
    LOAD_STORE_STEP_16 TAMP_F32_E4_P3 $w_x_1 $w_odd STAY NEXT \P
    LOAD_STORE_STEP_16 TAMP_F32_E4_P4 $w_x_0 $w_even NEXT NEXT \P
    LOAD_STORE_STEP_16 TAMP_F32_E4_P5 $w_x_1 $w_odd STAY NEXT \P
    LOAD_STORE_STEP_16 TAMP_F32_E4_P6 $w_x_0 $w_even SKIP STAY \P
    INPUT_STORE_STEP_16 TAMP_F32_E4_P7 $w_x_1 $w_odd \P STAY
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
.Lfew_\NAME:
    add         $w_left, $w_columns, 2
    brneg       $w_left, .Lnone_\NAME
    mov         $w_out_now, $w_out
.Lcolumn_\NAME:
    ld64        $w_p, $w_out_now, $mzero, 0
    STEP        f32sisov2amp TAMP_F32_E4_P0 $azero \P $azeros ld64 $w_p, $w_out_now, $mzero, 1
    STEP        f32sisov2amp TAMP_F32_E4_P1 $azero \P $azeros ld64 $w_p, $w_out_now, $mzero, 2
    STEP        f32sisov2amp TAMP_F32_E4_P2 $azero \P $azeros ld64 $w_p, $w_out_now, $mzero, 3
    STEP        f32sisov2amp TAMP_F32_E4_P3 $azero \P $azeros ld64 $w_p, $w_out_now, $mzero, 4
    STEP        f32sisov2amp TAMP_F32_E4_P4 $azero \P $azeros ld64 $w_p, $w_out_now, $mzero, 5
    STEP        f32sisov2amp TAMP_F32_E4_P5 $azero \P $azeros ld64 $w_p, $w_out_now, $mzero, 6
    STEP        f32sisov2amp TAMP_F32_E4_P6 $azero \P $azeros ld64 $w_p, $w_out_now, $mzero, 7
    STEP        f32sisov2amp TAMP_F32_E4_P7 $azero \P $azeros ld64step $w_x, $mzero, $w_dense+=, 1
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
    brnzdec     $w_left, .Lcolumn_\NAME
.Lnone_\NAME:
    exitz       $mzero
.endm

.macro SPARSE_BLOCK_4_FLOAT NAME P
    add         $w_dense, $mvertex_base, $w_dense_offset
    SPARSE_BLOCK_4_FLOAT_AT \NAME \P
.endm
.macro SPARSE_BLOCK_8_FLOAT NAME P
    add         $w_dense, $mvertex_base, $w_dense_offset
    SPARSE_BLOCK_8_FLOAT_AT \NAME \P
.endm
.macro SPARSE_BLOCK_16_FLOAT NAME P
    add         $w_dense, $mvertex_base, $w_dense_offset
    SPARSE_BLOCK_16_FLOAT_AT \NAME \P
.endm

#endif
