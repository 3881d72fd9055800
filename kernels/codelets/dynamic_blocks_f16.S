// SPDX-License-Identifier: MIT
// Block-sparse times dense with the pattern in buckets, FP16 data and partials.
//
//   dynamic_block4_f16, dynamic_block8_f16       one set of the matrix unit, 2 and 4 steps a column
//   dynamic_block16_f16                          both sets, 4 steps a column
// With DYNAMIC_INPUT: dynamic_block4_input_f16 and so on.
//
// State and supervisor: dynamic_blocks.inc. Worker code of a block of 16: published/sparse_dense_block_half.h. Smaller blocks leave the second
// set idle, as the published vertex does: their columns have inputs in some of the steps and partials in all of them.
// Timing, worker issues of a block with n columns: 2 n + 13 (4, n > 3), 4 n + 18 (8, n > 3), 4 n + 19 (16, n > 2).
#ifdef __IPU__

#include "conv_partials.h"
#include "poplar/TileConstants.hpp"
#include "sparse_dense_block.h"
#include "sparse_dense_block_half.h"
#include "dynamic_blocks.inc"

#define w_p_0 a2
#define w_p_1 a3
#define w_even_0 a4
#define w_even_1 a5
#define w_odd_0 a6
#define w_odd_1 a7

// A step of the matrix unit on one set: two partials enter, two results leave. Beside it the main lane
//     NOTHING
//     LOAD_BOTH     loads the next inputs and partials
//     LOAD_INPUTS, LOAD_PARTIALS               loads one of them: where results are that are not there yet, or were stored, the other one is seen again
//     STORE_EVEN, STORE_ODD, LOAD_STORE        stores results; the odd ones, and loads inputs
//     LOAD_SECOND, STEP_INPUTS, STEP_EVEN      does so by ordinary loads and stores
.macro NOTHING FLAG X P RESULT
    { nop ; f16v4hihoamp \RESULT, \X, \P, \FLAG }
.endm
.macro LOAD_BOTH FLAG X P RESULT
    { ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(NEXT, NEXT) ; f16v4hihoamp \RESULT, \X, \P, \FLAG }
.endm
.macro LOAD_INPUTS FLAG X P RESULT
    { ld2x64pace $w_x, $w_odd, $w_triple+=, $mzero, PXP(NEXT, STILL) ; f16v4hihoamp \RESULT, \X, \P, \FLAG }
.endm
.macro LOAD_PARTIALS FLAG X P RESULT
    { ld2x64pace $w_even, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT) ; f16v4hihoamp \RESULT, \X, \P, \FLAG }
.endm
.macro STORE_EVEN FLAG X P RESULT
    { st64pace  $w_even, $w_triple+=, $mzero, NEXT ; f16v4hihoamp \RESULT, \X, \P, \FLAG }
.endm
.macro STORE_ODD FLAG X P RESULT
    { st64pace  $w_odd, $w_triple+=, $mzero, NEXT ; f16v4hihoamp \RESULT, \X, \P, \FLAG }
.endm
.macro LOAD_STORE FLAG X P RESULT
    { ldst64pace $w_x, $w_odd, $w_triple+=, $mzero, PXP(NEXT, NEXT) ; f16v4hihoamp \RESULT, \X, \P, \FLAG }
.endm
.macro LOAD_SECOND FLAG X P RESULT
    { ld64      $w_p, $w_out_now, $mzero, 1 ; f16v4hihoamp \RESULT, \X, \P, \FLAG }
.endm
.macro STEP_INPUTS FLAG X P RESULT
    { ld64step  $w_x, $mzero, $w_dense+=, 1 ; f16v4hihoamp \RESULT, \X, \P, \FLAG }
.endm
.macro STEP_EVEN FLAG X P RESULT
    { st64step  $w_even, $mzero, $w_out_now+=, 1 ; f16v4hihoamp \RESULT, \X, \P, \FLAG }
.endm

#define PARTIALS $w_p_0 $w_p_1
#define NO_PARTIALS $azero $azero
#define RESULTS $w_even_0 $w_even_1 $w_odd_0 $w_odd_1
#define NO_RESULTS $azero $azero $azero $azero

// A column: its inputs come in the first of two steps, or in the first two of four. A, B, C, D: what the main lane does.
.macro COLUMN_4 X P0 P1 R0 R1 R2 R3 A B
    \A          TAMP_F16V4_E2_P0 \X \P0 \R0
    \B          TAMP_F16V4_E2_P1 $azeros \P1 \R1
.endm
.macro COLUMN_8 X P0 P1 R0 R1 R2 R3 A B C D
    \A          TAMP_F16V4_E4_P0 \X \P0 \R0
    \B          TAMP_F16V4_E4_P1 \X \P1 \R1
    \C          TAMP_F16V4_E4_P2 $azeros \P0 \R2
    \D          TAMP_F16V4_E4_P3 $azeros \P1 \R3
.endm

.macro BLOCK_4_HALF NAME P
    brneg       $w_columns, .Lfew_\NAME
    tapack      $w_triple, $w_dense, $w_out, $w_out
    ld2x64pace  $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT)
    COLUMN_4    $azeros PARTIALS NO_RESULTS NOTHING LOAD_BOTH
    COLUMN_4    $w_x PARTIALS NO_RESULTS NOTHING LOAD_BOTH
    COLUMN_4    $w_x PARTIALS RESULTS NOTHING LOAD_BOTH
    { rpt       $w_columns, (2f - 1f) / 8 - 1 ; fnop }
1:
    COLUMN_4    $w_x PARTIALS RESULTS STORE_EVEN LOAD_BOTH
2:
    COLUMN_4    $w_x PARTIALS RESULTS STORE_EVEN LOAD_INPUTS
    COLUMN_4    $w_x NO_PARTIALS RESULTS STORE_EVEN NOTHING
    COLUMN_4    $azeros NO_PARTIALS RESULTS STORE_EVEN NOTHING
    st64pace    $w_even, $w_triple+=, $mzero, NEXT
    exitz       $mzero

// Fewer than four columns: one after the other.
.Lfew_\NAME:
    add         $w_left, $w_columns, 3
    brneg       $w_left, .Lnone_\NAME
    mov         $w_out_now, $w_out
.Lcolumn_\NAME:
    ld64        $w_p, $w_out_now, $mzero, 0
    COLUMN_4    $azeros PARTIALS NO_RESULTS NOTHING STEP_INPUTS
    COLUMN_4    $w_x NO_PARTIALS NO_RESULTS NOTHING NOTHING
    COLUMN_4    $azeros NO_PARTIALS RESULTS NOTHING NOTHING
    st64step    $w_even, $mzero, $w_out_now+=, 1
    brnzdec     $w_left, .Lcolumn_\NAME
.Lnone_\NAME:
    exitz       $mzero
.endm

.macro BLOCK_8_HALF NAME P
    brneg       $w_columns, .Lfew_\NAME
    tapack      $w_triple, $w_dense, $w_out, $w_out
    ld2x64pace  $w_x, $w_p, $w_triple+=, $mzero, PXP(STILL, NEXT)
    COLUMN_8    $azeros PARTIALS NO_RESULTS NOTHING LOAD_PARTIALS NOTHING LOAD_BOTH
    COLUMN_8    $w_x PARTIALS NO_RESULTS LOAD_INPUTS LOAD_BOTH NOTHING LOAD_PARTIALS
    COLUMN_8    $w_x PARTIALS RESULTS LOAD_INPUTS LOAD_BOTH STORE_EVEN LOAD_PARTIALS
    { rpt       $w_columns, (2f - 1f) / 8 - 1 ; fnop }
1:
    COLUMN_8    $w_x PARTIALS RESULTS LOAD_STORE LOAD_BOTH STORE_EVEN LOAD_PARTIALS
2:
    COLUMN_8    $w_x PARTIALS RESULTS LOAD_STORE LOAD_BOTH STORE_EVEN NOTHING
    COLUMN_8    $w_x NO_PARTIALS RESULTS LOAD_STORE NOTHING STORE_EVEN NOTHING
    COLUMN_8    $azeros NO_PARTIALS RESULTS STORE_ODD NOTHING STORE_EVEN NOTHING
    st64pace    $w_odd, $w_triple+=, $mzero, NEXT
    exitz       $mzero

// Fewer than four columns: one after the other.
.Lfew_\NAME:
    add         $w_left, $w_columns, 3
    brneg       $w_left, .Lnone_\NAME
    mov         $w_out_now, $w_out
.Lcolumn_\NAME:
    ld64        $w_p, $w_out_now, $mzero, 0
    COLUMN_8    $azeros PARTIALS NO_RESULTS NOTHING LOAD_SECOND NOTHING STEP_INPUTS
    COLUMN_8    $w_x NO_PARTIALS NO_RESULTS STEP_INPUTS NOTHING NOTHING NOTHING
    COLUMN_8    $azeros NO_PARTIALS RESULTS NOTHING NOTHING STEP_EVEN NOTHING
    st64step    $w_odd, $mzero, $w_out_now+=, 1
    brnzdec     $w_left, .Lcolumn_\NAME
.Lnone_\NAME:
    exitz       $mzero
.endm

    DYNAMIC_BLOCKS ENTRY(4, f16) BLOCK_4_HALF $w_out 8 8 4 5 LOAD_WEIGHTS_ONE_SET 4 1
    DYNAMIC_BLOCKS ENTRY(8, f16) BLOCK_8_HALF $w_out 16 16 4 7 LOAD_WEIGHTS_ONE_SET 8 2
    DYNAMIC_BLOCKS ENTRY(16, f16) SPARSE_BLOCK_16_HALF_AT $w_out 32 32 3 9 LOAD_WEIGHTS_TWO_SETS 16 4 8

#endif
