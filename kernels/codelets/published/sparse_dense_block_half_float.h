// SPDX-License-Identifier: MIT
// clang-format off
// Block-sparse times dense, FP16 inputs and FP32 partials, one set of the matrix unit, blocks of 4, 8 and 16: what a
// worker of a block at its columns, for sources that differ in what enters: \P is the partials that were loaded, or zeros, and
// \NAME ends its labels. Macros whose names end in AT find $w_dense, $w_out_now and $w_strides set. Registers and timing:
// sparse_dense_block.h, sparse_dense_block_half_float.S.
#ifndef TESSERA_PUBLISHED_SPARSE_DENSE_BLOCK_HALF_FLOAT_H
#define TESSERA_PUBLISHED_SPARSE_DENSE_BLOCK_HALF_FLOAT_H

#define w_x a0:1
#define w_p a2:3
#define w_xp a0:3
#define w_even a4:5
#define w_odd a6:7

// Fields of the stride register: over the other outputs of a column, or none.
#define SKIP 2
#define STAY 3

// Steps of the matrix unit by what the main lane does beside them; FLAG: engines and phase.
.macro LOAD_STEP FLAG X RESULT IN PARTIAL P
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(\IN, \PARTIAL) ; f16v4sisoamp \RESULT, \X, \P, \FLAG }
.endm
.macro LOAD_STORE_STEP FLAG X RESULT IN PARTIAL OUT P
    { ld2xst64pace $w_xp, \RESULT, $w_triple+=, $w_strides, PXPO(\IN, \PARTIAL, \OUT) ; f16v4sisoamp \RESULT, \X, \P, \FLAG }
.endm
.macro INPUT_STORE_STEP FLAG X RESULT P IN OUT
    { ldst64pace $w_x, \RESULT, $w_triple+=, $w_strides, PXP(\IN, \OUT) ; f16v4sisoamp \RESULT, \X, \P, \FLAG }
.endm
.macro STORE_STEP FLAG X RESULT OUT
    { st64pace  \RESULT, $w_triple+=, $w_strides, \OUT ; f16v4sisoamp \RESULT, \X, $azeros, \FLAG }
.endm
.macro STEP FLAG X P RESULT MAIN:vararg
    { \MAIN ; f16v4sisoamp \RESULT, \X, \P, \FLAG }
.endm

.macro SPARSE_BLOCK_4_HALF_FLOAT_AT NAME P
    brneg       $w_columns, .Lfew_\NAME
    tapack      $w_triple, $w_dense, $w_out_now, $w_out_now
    ld2x64pace  $w_x, $w_p, $w_triple+=, $w_strides, PXP(STAY, NEXT)
    LOAD_STEP   TAMP_F16V4_E2_P0 $azeros $azeros STAY NEXT \P
    LOAD_STEP   TAMP_F16V4_E2_P1 $azeros $azeros NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E2_P0 $w_x $azeros STAY NEXT \P
    LOAD_STEP   TAMP_F16V4_E2_P1 $azeros $azeros NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E2_P0 $w_x $w_even STAY NEXT \P
    LOAD_STEP   TAMP_F16V4_E2_P1 $azeros $w_odd NEXT NEXT \P
    .align 8
    { rpt       $w_columns, (2f - 1f) / 8 - 1 ; fnop }
1:
    LOAD_STORE_STEP TAMP_F16V4_E2_P0 $w_x $w_even STAY NEXT NEXT \P
    LOAD_STORE_STEP TAMP_F16V4_E2_P1 $azeros $w_odd NEXT NEXT NEXT \P
2:
    LOAD_STORE_STEP TAMP_F16V4_E2_P0 $w_x $w_even STAY STAY NEXT \P
    INPUT_STORE_STEP TAMP_F16V4_E2_P1 $azeros $w_odd \P NEXT NEXT
    STORE_STEP  TAMP_F16V4_E2_P0 $w_x $w_even NEXT
    STORE_STEP  TAMP_F16V4_E2_P1 $azeros $w_odd NEXT
    STORE_STEP  TAMP_F16V4_E2_P0 $azeros $w_even NEXT
    STORE_STEP  TAMP_F16V4_E2_P1 $azeros $w_odd NEXT
    st64pace    $w_even, $w_triple+=, $w_strides, NEXT
    st64pace    $w_odd, $w_triple+=, $w_strides, NEXT
    exitz       $mzero

// Few columns: one after the other.
.Lfew_\NAME:
    add         $w_left, $w_columns, 3
    brneg       $w_left, .Lnone_\NAME
.Lcolumn_\NAME:
    ld64        $w_p, $w_out_now, $mzero, 0
    STEP        TAMP_F16V4_E2_P0 $azeros \P $azeros ld64 $w_p, $w_out_now, $mzero, 1
    STEP        TAMP_F16V4_E2_P1 $azeros \P $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        TAMP_F16V4_E2_P0 $w_x $azeros $azeros nop
    STEP        TAMP_F16V4_E2_P1 $azeros $azeros $azeros nop
    STEP        TAMP_F16V4_E2_P0 $azeros $azeros $w_even nop
    STEP        TAMP_F16V4_E2_P1 $azeros $azeros $w_odd st64step $w_even, $mzero, $w_out_now+=, 1
    st64step    $w_odd, $mzero, $w_out_now+=, 1
    brnzdec     $w_left, .Lcolumn_\NAME
.Lnone_\NAME:
    exitz       $mzero
.endm

.macro SPARSE_BLOCK_8_HALF_FLOAT_AT NAME P
    brneg       $w_columns, .Lfew_\NAME
    tapack      $w_triple, $w_dense, $w_out_now, $w_out_now
    ld2x64pace  $w_x, $w_p, $w_triple+=, $w_strides, PXP(STAY, NEXT)
    LOAD_STEP   TAMP_F16V4_E4_P0 $azeros $azeros STAY NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P1 $azeros $azeros STAY NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P2 $azeros $azeros STAY NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P3 $azeros $azeros NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P0 $w_x $azeros NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P1 $w_x $azeros STAY NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P2 $azeros $azeros STAY NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P3 $azeros $azeros NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P0 $w_x $w_even NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P1 $w_x $w_odd STAY NEXT \P
    .align 8
    { rpt       $w_columns, (2f - 1f) / 8 - 1 ; fnop }
1:
    LOAD_STORE_STEP TAMP_F16V4_E4_P2 $azeros $w_even STAY NEXT NEXT \P
    LOAD_STORE_STEP TAMP_F16V4_E4_P3 $azeros $w_odd NEXT NEXT NEXT \P
    LOAD_STORE_STEP TAMP_F16V4_E4_P0 $w_x $w_even NEXT NEXT NEXT \P
    LOAD_STORE_STEP TAMP_F16V4_E4_P1 $w_x $w_odd STAY NEXT NEXT \P
2:
    LOAD_STORE_STEP TAMP_F16V4_E4_P2 $azeros $w_even STAY STAY NEXT \P
    INPUT_STORE_STEP TAMP_F16V4_E4_P3 $azeros $w_odd \P NEXT NEXT
    INPUT_STORE_STEP TAMP_F16V4_E4_P0 $w_x $w_even $azeros NEXT NEXT
    STORE_STEP  TAMP_F16V4_E4_P1 $w_x $w_odd NEXT
    STORE_STEP  TAMP_F16V4_E4_P2 $azeros $w_even NEXT
    STORE_STEP  TAMP_F16V4_E4_P3 $azeros $w_odd NEXT
    STORE_STEP  TAMP_F16V4_E4_P0 $azeros $w_even NEXT
    STORE_STEP  TAMP_F16V4_E4_P1 $azeros $w_odd NEXT
    STORE_STEP  TAMP_F16V4_E4_P2 $azeros $w_even NEXT
    STORE_STEP  TAMP_F16V4_E4_P3 $azeros $w_odd NEXT
    st64pace    $w_even, $w_triple+=, $w_strides, NEXT
    st64pace    $w_odd, $w_triple+=, $w_strides, NEXT
    exitz       $mzero

// Few columns: one after the other.
.Lfew_\NAME:
    add         $w_left, $w_columns, 2
    brneg       $w_left, .Lnone_\NAME
.Lcolumn_\NAME:
    ld64        $w_p, $w_out_now, $mzero, 0
    STEP        TAMP_F16V4_E4_P0 $azeros \P $azeros ld64 $w_p, $w_out_now, $mzero, 1
    STEP        TAMP_F16V4_E4_P1 $azeros \P $azeros ld64 $w_p, $w_out_now, $mzero, 2
    STEP        TAMP_F16V4_E4_P2 $azeros \P $azeros ld64 $w_p, $w_out_now, $mzero, 3
    STEP        TAMP_F16V4_E4_P3 $azeros \P $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        TAMP_F16V4_E4_P0 $w_x $azeros $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        TAMP_F16V4_E4_P1 $w_x $azeros $azeros nop
    STEP        TAMP_F16V4_E4_P2 $azeros $azeros $azeros nop
    STEP        TAMP_F16V4_E4_P3 $azeros $azeros $azeros nop
    STEP        TAMP_F16V4_E4_P0 $azeros $azeros $w_even nop
    STEP        TAMP_F16V4_E4_P1 $azeros $azeros $w_odd st64step $w_even, $mzero, $w_out_now+=, 1
    STEP        TAMP_F16V4_E4_P2 $azeros $azeros $w_even st64step $w_odd, $mzero, $w_out_now+=, 1
    STEP        TAMP_F16V4_E4_P3 $azeros $azeros $w_odd st64step $w_even, $mzero, $w_out_now+=, 1
    st64step    $w_odd, $mzero, $w_out_now+=, 1
    brnzdec     $w_left, .Lcolumn_\NAME
.Lnone_\NAME:
    exitz       $mzero
.endm

// Eight of the outputs, the others between two columns': $w_strides has SKIP.
.macro SPARSE_BLOCK_16_HALF_FLOAT_AT NAME P
    brneg       $w_columns, .Lfew_\NAME
    tapack      $w_triple, $w_dense, $w_out_now, $w_out_now
    ld2x64pace  $w_x, $w_p, $w_triple+=, $w_strides, PXP(STAY, NEXT)
    LOAD_STEP   TAMP_F16V4_E4_P0 $azeros $azeros STAY NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P1 $azeros $azeros STAY NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P2 $azeros $azeros STAY SKIP \P
    LOAD_STEP   TAMP_F16V4_E4_P3 $azeros $azeros NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P0 $w_x $azeros NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P1 $w_x $azeros NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P2 $w_x $azeros NEXT SKIP \P
    LOAD_STEP   TAMP_F16V4_E4_P3 $w_x $azeros NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P0 $w_x $w_even NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P1 $w_x $w_odd NEXT NEXT \P
    .align 8
    { rpt       $w_columns, (2f - 1f) / 8 - 1 ; fnop }
1:
    LOAD_STORE_STEP TAMP_F16V4_E4_P2 $w_x $w_even NEXT SKIP NEXT \P
    LOAD_STORE_STEP TAMP_F16V4_E4_P3 $w_x $w_odd NEXT NEXT NEXT \P
    LOAD_STORE_STEP TAMP_F16V4_E4_P0 $w_x $w_even NEXT NEXT NEXT \P
    LOAD_STORE_STEP TAMP_F16V4_E4_P1 $w_x $w_odd NEXT NEXT SKIP \P
2:
    LOAD_STORE_STEP TAMP_F16V4_E4_P2 $w_x $w_even NEXT STAY NEXT \P
    INPUT_STORE_STEP TAMP_F16V4_E4_P3 $w_x $w_odd \P NEXT NEXT
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
.Lfew_\NAME:
    add         $w_left, $w_columns, 2
    brneg       $w_left, .Lnone_\NAME
.Lcolumn_\NAME:
    ld64        $w_p, $w_out_now, $mzero, 0
    STEP        TAMP_F16V4_E4_P0 $azeros \P $azeros ld64 $w_p, $w_out_now, $mzero, 1
    STEP        TAMP_F16V4_E4_P1 $azeros \P $azeros ld64 $w_p, $w_out_now, $mzero, 2
    STEP        TAMP_F16V4_E4_P2 $azeros \P $azeros ld64 $w_p, $w_out_now, $mzero, 3
    STEP        TAMP_F16V4_E4_P3 $azeros \P $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        TAMP_F16V4_E4_P0 $w_x $azeros $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        TAMP_F16V4_E4_P1 $w_x $azeros $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        TAMP_F16V4_E4_P2 $w_x $azeros $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        TAMP_F16V4_E4_P3 $w_x $azeros $azeros nop
    STEP        TAMP_F16V4_E4_P0 $azeros $azeros $w_even nop
    STEP        TAMP_F16V4_E4_P1 $azeros $azeros $w_odd st64step $w_even, $mzero, $w_out_now+=, 1
    STEP        TAMP_F16V4_E4_P2 $azeros $azeros $w_even st64step $w_odd, $mzero, $w_out_now+=, 1
    STEP        TAMP_F16V4_E4_P3 $azeros $azeros $w_odd st64step $w_even, $mzero, $w_out_now+=, 1
    st64step    $w_odd, $mzero, $w_out_now+=, 5
    brnzdec     $w_left, .Lcolumn_\NAME
.Lnone_\NAME:
    exitz       $mzero
.endm

.macro SPARSE_BLOCK_4_HALF_FLOAT NAME P
    mov         $w_strides, $mzero
    mov         $w_out_now, $w_out
    add         $w_dense, $mvertex_base, $w_dense_offset
    SPARSE_BLOCK_4_HALF_FLOAT_AT \NAME \P
.endm
.macro SPARSE_BLOCK_8_HALF_FLOAT NAME P
    mov         $w_strides, $mzero
    mov         $w_out_now, $w_out
    add         $w_dense, $mvertex_base, $w_dense_offset
    SPARSE_BLOCK_8_HALF_FLOAT_AT \NAME \P
.endm

#endif
