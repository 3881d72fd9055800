// SPDX-License-Identifier: MIT
// clang-format off
// Block-sparse times dense, FP16 inputs and partials, both sets of the matrix unit, blocks of 4, 8 and 16: what a
// worker of a block at its columns, for sources that differ in what enters: \P is the partials that were loaded, or zeros, and
// \NAME ends its labels. Registers and timing: sparse_dense_block.h, sparse_dense_block_half.S.
#ifndef TESSERA_PUBLISHED_SPARSE_DENSE_BLOCK_HALF_H
#define TESSERA_PUBLISHED_SPARSE_DENSE_BLOCK_HALF_H

#define w_x a0:1
#define w_p a2:3
#define w_xp a0:3
#define w_even a4:5
#define w_odd a6:7

// Steps of the matrix unit by what the main lane does beside them; FLAG: engines and phase.
.macro LOAD_STEP FLAG X RESULT IN PARTIAL P
    { ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(\IN, \PARTIAL) ; f16v4hihov4amp \RESULT, \X, \P, \FLAG }
.endm
.macro LOAD_STORE_STEP FLAG RESULT PARTIAL P
    { ld2xst64pace $w_xp, \RESULT, $w_triple+=, $mzero, PXPO(NEXT, \PARTIAL, NEXT) ; f16v4hihov4amp \RESULT, $w_x, \P, \FLAG }
.endm
.macro INPUT_STORE_STEP FLAG RESULT P
    { ldst64pace $w_x, \RESULT, $w_triple+=, $mzero, PXP(NEXT, NEXT) ; f16v4hihov4amp \RESULT, $w_x, \P, \FLAG }
.endm
.macro STORE_STEP_OF STORED FLAG X RESULT
    { st64pace  \STORED, $w_triple+=, $mzero, NEXT ; f16v4hihov4amp \RESULT, \X, $azeros, \FLAG }
.endm
.macro STORE_STEP FLAG X RESULT
    { st64pace  \RESULT, $w_triple+=, $mzero, NEXT ; f16v4hihov4amp \RESULT, \X, $azeros, \FLAG }
.endm
.macro STEP FLAG X P RESULT MAIN:vararg
    { \MAIN ; f16v4hihov4amp \RESULT, \X, \P, \FLAG }
.endm

// The last two columns of a 4x4 block leave: A holds the result that is stored first.
.macro LAST_COLUMNS A B P
    { ld2xst64pace $w_xp, \A, $w_triple+=, $mzero, PXPO(NEXT, STILL, NEXT) ; f16v4hihov4amp \A, $w_x, \P, TAMP_F16V4_E1_P0 }
    { ldst64pace $w_x, \B, $w_triple+=, $mzero, PXP(NEXT, NEXT) ; f16v4hihov4amp \B, $w_x, \P, TAMP_F16V4_E1_P0 }
    STORE_STEP  TAMP_F16V4_E1_P0 $w_x \A
    STORE_STEP  TAMP_F16V4_E1_P0 $azeros \B
    st64pace    \A, $w_triple+=, $mzero, NEXT
    st64pace    \B, $w_triple+=, $mzero, NEXT
    exitz       $mzero
.endm

// Two outputs in each set, one weight register each.
.macro LOAD_WEIGHTS_4X4
    ld64putcs   0
    ld64putcs   4
    ld64putcs   CWEI_SECOND_SET
    ld64putcs   CWEI_SECOND_SET + 4
.endm

.macro SPARSE_BLOCK_4_HALF_AT NAME P
    brneg       $w_columns, .Lfew_\NAME
    tapack      $w_triple, $w_dense, $w_out, $w_out
    ld2x64pace  $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT)
    LOAD_STEP   TAMP_F16V4_E1_P0 $azeros $azeros NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E1_P0 $w_x $azeros NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E1_P0 $w_x $w_even NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E1_P0 $w_x $w_odd NEXT NEXT \P
    shr         $w_left, $w_columns, 1
    .align 8
    { rpt       $w_left, (2f - 1f) / 8 - 1 ; fnop }
1:
    LOAD_STORE_STEP TAMP_F16V4_E1_P0 $w_even NEXT \P
    LOAD_STORE_STEP TAMP_F16V4_E1_P0 $w_odd NEXT \P
2:
    and         $w_left, $w_columns, 1
    brnz        $w_left, .Lodd_\NAME
    LAST_COLUMNS $w_even $w_odd \P
    .align 8
.Lodd_\NAME:
    LOAD_STORE_STEP TAMP_F16V4_E1_P0 $w_even NEXT \P
    LAST_COLUMNS $w_odd $w_even \P

// Three to five columns: loads and stores take turns.
.Lfew_\NAME:
    add         $w_left, $w_columns, 3
    brneg       $w_left, .Lone_or_two_\NAME
    add         $w_scratch, $w_columns, 5
    tapack      $w_triple, $w_dense, $w_out, $w_out
    ld2x64pace  $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT)
    .align 8
    LOAD_STEP   TAMP_F16V4_E1_P0 $azeros $azeros NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E1_P0 $w_x $azeros NEXT NEXT \P
    { rpt       $w_left, (2f - 1f) / 8 - 1 ; fnop }
1:
    LOAD_STEP   TAMP_F16V4_E1_P0 $w_x $w_even NEXT NEXT \P
    { st64pace  $w_even, $w_triple+=, $mzero, NEXT ; fnop }
2:
    STEP        TAMP_F16V4_E1_P0 $w_x \P $w_even ld64 $w_x, $w_dense, $mzero, $w_scratch
    STORE_STEP_OF $w_even TAMP_F16V4_E1_P0 $w_x $w_odd
    STORE_STEP_OF $w_odd TAMP_F16V4_E1_P0 $azeros $w_even
    st64pace    $w_even, $w_triple+=, $mzero, NEXT
    exitz       $mzero

// Few columns: one after the other.
.Lone_or_two_\NAME:
    add         $w_left, $w_columns, 5
    brneg       $w_left, .Lnone_\NAME
    mov         $w_out_now, $w_out
.Lcolumn_\NAME:
    ld64        $w_p, $w_out_now, $mzero, 0
    STEP        TAMP_F16V4_E1_P0 $azeros \P $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        TAMP_F16V4_E1_P0 $w_x $azeros $azeros nop
    STEP        TAMP_F16V4_E1_P0 $azeros $azeros $w_even nop
    st64step    $w_even, $mzero, $w_out_now+=, 1
    brnzdec     $w_left, .Lcolumn_\NAME
.Lnone_\NAME:
    exitz       $mzero
.endm

.macro SPARSE_BLOCK_8_HALF_AT NAME P
    brneg       $w_columns, .Lfew_\NAME
    tapack      $w_triple, $w_dense, $w_out, $w_out
    ld2x64pace  $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT)
    LOAD_STEP   TAMP_F16V4_E2_P0 $azeros $azeros STILL NEXT \P
    LOAD_STEP   TAMP_F16V4_E2_P1 $azeros $azeros NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E2_P0 $w_x $azeros NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E2_P1 $w_x $azeros NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E2_P0 $w_x $w_even NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E2_P1 $w_x $w_odd NEXT NEXT \P
    .align 8
    { rpt       $w_columns, (2f - 1f) / 8 - 1 ; fnop }
1:
    LOAD_STORE_STEP TAMP_F16V4_E2_P0 $w_even NEXT \P
    LOAD_STORE_STEP TAMP_F16V4_E2_P1 $w_odd NEXT \P
2:
    LOAD_STORE_STEP TAMP_F16V4_E2_P0 $w_even STILL \P
    INPUT_STORE_STEP TAMP_F16V4_E2_P1 $w_odd \P
    INPUT_STORE_STEP TAMP_F16V4_E2_P0 $w_even $azeros
    STORE_STEP  TAMP_F16V4_E2_P1 $w_x $w_odd
    STORE_STEP  TAMP_F16V4_E2_P0 $azeros $w_even
    STORE_STEP  TAMP_F16V4_E2_P1 $azeros $w_odd
    st64pace    $w_even, $w_triple+=, $mzero, NEXT
    st64pace    $w_odd, $w_triple+=, $mzero, NEXT
    exitz       $mzero

// Few columns: one after the other.
.Lfew_\NAME:
    add         $w_left, $w_columns, 3
    brneg       $w_left, .Lnone_\NAME
    mov         $w_out_now, $w_out
.Lcolumn_\NAME:
    ld64        $w_p, $w_out_now, $mzero, 0
    STEP        TAMP_F16V4_E2_P0 $azeros \P $azeros ld64 $w_p, $w_out_now, $mzero, 1
    STEP        TAMP_F16V4_E2_P1 $azeros \P $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        TAMP_F16V4_E2_P0 $w_x $azeros $azeros ld64step $w_x, $mzero, $w_dense+=, 1
    STEP        TAMP_F16V4_E2_P1 $w_x $azeros $azeros nop
    STEP        TAMP_F16V4_E2_P0 $azeros $azeros $w_even nop
    STEP        TAMP_F16V4_E2_P1 $azeros $azeros $w_odd st64step $w_even, $mzero, $w_out_now+=, 1
    st64step    $w_odd, $mzero, $w_out_now+=, 1
    brnzdec     $w_left, .Lcolumn_\NAME
.Lnone_\NAME:
    exitz       $mzero
.endm

.macro SPARSE_BLOCK_16_HALF_AT NAME P
    brneg       $w_columns, .Lfew_\NAME
    tapack      $w_triple, $w_dense, $w_out, $w_out
    ld2x64pace  $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT)
    LOAD_STEP   TAMP_F16V4_E4_P0 $azeros $azeros STILL NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P1 $azeros $azeros STILL NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P2 $azeros $azeros STILL NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P3 $azeros $azeros NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P0 $w_x $azeros NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P1 $w_x $azeros NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P2 $w_x $azeros NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P3 $w_x $azeros NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P0 $w_x $w_even NEXT NEXT \P
    LOAD_STEP   TAMP_F16V4_E4_P1 $w_x $w_odd NEXT NEXT \P
    .align 8
    { rpt       $w_columns, (2f - 1f) / 8 - 1 ; fnop }
1:
    LOAD_STORE_STEP TAMP_F16V4_E4_P2 $w_even NEXT \P
    LOAD_STORE_STEP TAMP_F16V4_E4_P3 $w_odd NEXT \P
    LOAD_STORE_STEP TAMP_F16V4_E4_P0 $w_even NEXT \P
    LOAD_STORE_STEP TAMP_F16V4_E4_P1 $w_odd NEXT \P
2:
    LOAD_STORE_STEP TAMP_F16V4_E4_P2 $w_even STILL \P
    INPUT_STORE_STEP TAMP_F16V4_E4_P3 $w_odd \P
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
.Lfew_\NAME:
    add         $w_left, $w_columns, 2
    brneg       $w_left, .Lnone_\NAME
    mov         $w_out_now, $w_out
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
    st64step    $w_odd, $mzero, $w_out_now+=, 1
    brnzdec     $w_left, .Lcolumn_\NAME
.Lnone_\NAME:
    exitz       $mzero
.endm

.macro SPARSE_BLOCK_4_HALF NAME P
    add         $w_dense, $mvertex_base, $w_dense_offset
    SPARSE_BLOCK_4_HALF_AT \NAME \P
.endm
.macro SPARSE_BLOCK_8_HALF NAME P
    add         $w_dense, $mvertex_base, $w_dense_offset
    SPARSE_BLOCK_8_HALF_AT \NAME \P
.endm
.macro SPARSE_BLOCK_16_HALF NAME P
    add         $w_dense, $mvertex_base, $w_dense_offset
    SPARSE_BLOCK_16_HALF_AT \NAME \P
.endm

#endif
