// SPDX-License-Identifier: MIT
// Gradient of the values of a product of blocks (dynamic_blocks.inc) by the matrix unit: what dynamic_blocks_values.S gives, from operands whose
// columns lie together in groups of Z, 16 in FP16 (dynamic_blocks_amp_values_f32.S) or 8 in FP32 (dynamic_blocks_amp_values_single.S). A group
// of X is loaded as weights, a group of the same columns of dY is multiplied; sums are in FP32.
//
// Vertex dynamic_block<B>_amp_values_p (supervisor; p: f32, single; B: 4, 8, and 16 for f32). State: dynamic_blocks.inc, but
//     0 out        FP32, of the first bucket: blocks in the order of the metadata, row-major; region 1, 16-byte aligned
//     2            not used
//     3 dense      X: [place][group][B][Z], 8-byte aligned
//     5            bytes from a bucket's partials to the next one's
//     8 columns    a multiple of Z, not 0
//     9 scratch    10 words
//    10 dY         [block row][group][B][Z], 8-byte aligned, in no 32 KiB pair of region 1 that out is in
// Three words of metadata behind the rows of a sub-group are read. Nothing else is read beyond.
// Workers share the rows of a block, by pairs with B > 4.
// Blocks of 16 in FP16 take two weight loads, eight columns of a block each.
// Timing, six workers, cycles of a group: a cycle for every 8 bytes of weights, 11, and 6 times the worker issues: f32 14 (4), 21 (8), 51 and 50
//   (16), single 18 (4), 29 (8). The first group of a block has 12 issues (4) or 13 more.
// Source: docs/published_plans.md#dynamic-sparse-products, docs/evidence.md#instruction-set.

#define SCANNED 0
#define SCANNED_SHIFT out_shift
#include "conv_partials.h"
#include "dynamic_elements.inc"
#include "poplar/TileConstants.hpp"
#include "vector_work.h"
#include "worker_share.inc"

#if DATA_BITS == 16
#define GROUP_COLUMNS_SHIFT 4   // of Z
#else
#define GROUP_COLUMNS_SHIFT 3
#endif
#define ROW_BYTES 32            // of a group: Z elements

// words of the scratch
#define SCRATCH_OUT 0           // of the block
#define SCRATCH_DY 1            // of the block's row
#define SCRATCH_GROUPS_LESS1 2
#define SCRATCH_BLOCK_BYTES 3   // of a block row of X and dY
#define SCRATCH_SAVED 4         // registers of the scan and of the caller

// words of a sub-group's header; bytes of it and of the lists behind it
#define GROUP_LISTS 6
#define HEADER_BYTES 14
#define LIST_BYTES_SHIFT 3      // of a worker

// worker registers, kept from launch to launch
#define w_dy_offset m0
#define w_out m1
#define w_units m2      // pairs of rows, or rows, less one
#define w_second m3     // the second row of the first pair
// and those that are not
#define w_base m11      // dY of the row and group
#define w_dy m4
#define w_left m5
#define w_triple m6:7
#define w_out_now m8
#define w_next m9
#define w_strides m10

#define x a0:1
#define p a2:3
#define xp a0:3
#define even a4:5
#define odd a6:7

.macro START
        ld32    $m8, $m0, 9
        ld32    $m5, $m0, 8
        st32    $m9, $m8, $mzero, SCRATCH_SAVED + 3
        st32    $m10, $m8, $mzero, SCRATCH_SAVED + 4
        mov     $m9, $m8
        shr     $m5, $m5, GROUP_COLUMNS_SHIFT
        add     $m6, $m5, -1
        mul     $m5, $m5, group_bytes
        st32    $m6, $m9, $mzero, SCRATCH_GROUPS_LESS1
        st32    $m5, $m9, $mzero, SCRATCH_BLOCK_BYTES
.endm

// $m1 walks over the metadata, $m2 is the place, $m3 goes through dY, $m4 counts blocks, $m5 rows, $m6 groups, $m7 is the row's dY, $m8 the
// workers' entry, $m10 the partials.
.macro OWN NAME PASSES BLOCK_BYTES LOADS:vararg
        st32    $m1, $m9, $mzero, SCRATCH_SAVED
        st32    $m2, $m9, $mzero, SCRATCH_SAVED + 1
        st32    $m8, $m9, $mzero, SCRATCH_SAVED + 2
        mov     $m10, $m4
        ldz16   $m5, $m3, $mzero, GROUP_ROWS_LESS1
        ldz16   $m2, $m3, $mzero, GROUP_LISTS
        add     $m5, $m5, 1
        shl     $m2, $m2, LIST_BYTES_SHIFT
        add     $m1, $m3, $m2
        add     $m1, $m1, HEADER_BYTES
        bri     .Lrow_\NAME
.Lblock_\NAME:
        ldz16step $m2, $mzero, $m1+=, 1
        ld32    $m6, $m9, SCRATCH_BLOCK_BYTES
        ld32    $m3, $m0, 3
        mul     $m2, $m2, $m6
        ld32    $m6, $m9, SCRATCH_GROUPS_LESS1
        add     $m2, $m2, $m3
        put     $CCCSLOAD, $m2
        setzi   $m8, .Lnext_block_\NAME
        sync    TEXCH_SYNCZONE_LOCAL
        st32    $m10, $m9, $mzero, SCRATCH_OUT
        st32    $m7, $m9, $mzero, SCRATCH_DY
        \LOADS
        runall  $m8, $m9, 0
        add     $m10, $m10, \BLOCK_BYTES
        mov     $m3, $m7
        bri     .Lother_passes_\NAME
.Lgroup_\NAME:
        setzi   $m8, .Lsame_block_\NAME
        sync    TEXCH_SYNCZONE_LOCAL
        \LOADS
        runall  $m8, $m3, 0
.Lother_passes_\NAME:
.rept \PASSES - 1
        setzi   $m8, .Lsecond_\NAME
        sync    TEXCH_SYNCZONE_LOCAL
        \LOADS
        runall  $m8, $m3, 0
.endr
        add     $m3, $m3, group_bytes
        brnzdec $m6, .Lgroup_\NAME
        brnzdec $m4, .Lblock_\NAME
.Lrow_\NAME:
        ldz16step $m7, $mzero, $m1+=, 1
        ldz16step $m4, $mzero, $m1+=, 1
        ld32    $m6, $m9, SCRATCH_BLOCK_BYTES
        ld32    $m3, $m0, 10
        mul     $m7, $m7, $m6
        add     $m7, $m7, $m3
        brnzdec $m5, .Lblock_\NAME
        sync    TEXCH_SYNCZONE_LOCAL
        ld32    $m1, $m9, SCRATCH_SAVED
        ld32    $m2, $m9, SCRATCH_SAVED + 1
        ld32    $m8, $m9, SCRATCH_SAVED + 2
.endm
.macro END
        ld32    $m10, $m9, SCRATCH_SAVED + 4
        ld32    $m9, $m9, SCRATCH_SAVED + 3
.endm

// The vertex of one block size. UNITS of ROWS rows each are dealt to the workers; WORKER: the code of one unit; STRIDES: of its paced accesses.
.macro AMP_VALUES NAME BLOCK OUT_SHIFT UNITS ROWS STRIDES PASSES WORKER LOADS:vararg
.set out_shift, \OUT_SHIFT
.set group_bytes, ROW_BYTES * \BLOCK
        SCAN_BUCKETS \NAME START "OWN \NAME \PASSES (4 * \BLOCK * \BLOCK) \LOADS" END

        .worker
        .align 8
// The first group of a block: the worker's rows too.
.Lnext_block_\NAME:
        WORKER_INDEX
.if (\UNITS) <= CTXT_WORKERS
        // one unit, or none
        mov     $m11, $m8
        cmpult  $w_units, $m8, \UNITS
.else
        setzi   $m9, (\UNITS) / CTXT_WORKERS
        setzi   $m10, (\UNITS) % CTXT_WORKERS
        FIRST_UNIT
        OWN_UNITS UNITS=$w_units
.endif
        add     $w_units, $w_units, -1
        mul     $w_dy_offset, $m11, \ROWS * ROW_BYTES
        mul     $w_second, $m11, \ROWS * 4 * \BLOCK
        ld32    $w_out, $mvertex_base, $mzero, SCRATCH_OUT
        ld32    $w_base, $mvertex_base, $mzero, SCRATCH_DY
        add     $w_out, $w_out, $w_second
        add     $w_second, $w_out, 4 * \BLOCK
.if \STRIDES
        setzi   $w_strides, \STRIDES
.endif
        bri     .Lfirst_pass_\NAME
.Lsame_block_\NAME:
        mov     $w_base, $mvertex_base
.Lfirst_pass_\NAME:
.if (\UNITS) <= CTXT_WORKERS && \PASSES == 1
        brneg   $w_units, .Lnone_\NAME
        \WORKER $w_out $w_second $w_dy_offset
.else
        mov     $w_out_now, $w_out
.if \PASSES == 2
        bri     .Lunits_\NAME
.Lsecond_\NAME:
        mov     $w_base, $mvertex_base
        add     $w_out_now, $w_out, 32
.Lunits_\NAME:
.endif
        mov     $w_left, $w_units
        brneg   $w_left, .Lnone_\NAME
        add     $w_base, $w_base, $w_dy_offset
.Lunit_\NAME:
        add     $w_next, $w_out_now, 4 * \BLOCK
        \WORKER $w_out_now $w_next $mzero
        add     $w_out_now, $w_out_now, \ROWS * 4 * \BLOCK
        add     $w_base, $w_base, \ROWS * ROW_BYTES
        brnzdec $w_left, .Lunit_\NAME
.endif
.Lnone_\NAME:
        exitz   $mzero
.endm

#if DATA_BITS == 16
// Fields of a paced access: the next 8-byte word, the one that $w_strides says, none.
#define NEXT 0
#define SKIP 2
#define STAY 3

// A step of the matrix unit and what the main lane does beside it.
.macro STEP PHASE X P RESULT MAIN:vararg
        { \MAIN ; f16v4sisoamp \RESULT, \X, \P, \PHASE }
.endm

// Two rows: the first one's partials enter, it is multiplied while the second one's enter, and leaves while that is multiplied.
.macro PAIR OUT SECOND OFFSET
        ld128   $a0:3, \OUT, $mzero, 0
        STEP    TAMP_F16V4_E4_P0 $azeros $a0:1 $azeros ld128 $a4:7, \OUT, $mzero, 1
        STEP    TAMP_F16V4_E4_P1 $azeros $a2:3 $azeros add $w_dy, $w_base, \OFFSET
        STEP    TAMP_F16V4_E4_P2 $azeros $a4:5 $azeros tapack $w_triple, $w_dy, \SECOND, \OUT
        STEP    TAMP_F16V4_E4_P3 $azeros $a6:7 $azeros ld2x64pace $x, $p, $w_triple+=, $w_strides, NEXT | NEXT << 2
        STEP    TAMP_F16V4_E4_P0 $x $p $azeros ld2x64pace $x, $p, $w_triple+=, $w_strides, NEXT | NEXT << 2
        STEP    TAMP_F16V4_E4_P1 $x $p $azeros ld2x64pace $x, $p, $w_triple+=, $w_strides, NEXT | NEXT << 2
        STEP    TAMP_F16V4_E4_P2 $x $p $azeros ld2x64pace $x, $p, $w_triple+=, $w_strides, NEXT | NEXT << 2
        STEP    TAMP_F16V4_E4_P3 $x $p $azeros ld2x64pace $x, $p, $w_triple+=, $w_strides, NEXT | STAY << 2
        STEP    TAMP_F16V4_E4_P0 $x $azeros $even ld2x64pace $x, $p, $w_triple+=, $w_strides, NEXT | STAY << 2
        STEP    TAMP_F16V4_E4_P1 $x $azeros $odd ldst64pace $x, $even, $w_triple+=, $w_strides, NEXT | NEXT << 2
        STEP    TAMP_F16V4_E4_P2 $x $azeros $even ldst64pace $x, $odd, $w_triple+=, $w_strides, NEXT | NEXT << 2
        STEP    TAMP_F16V4_E4_P3 $x $azeros $odd st64pace $even, $w_triple+=, $w_strides, NEXT
        STEP    TAMP_F16V4_E4_P0 $azeros $azeros $even st64pace $odd, $w_triple+=, $w_strides, SKIP
        STEP    TAMP_F16V4_E4_P1 $azeros $azeros $odd st64pace $even, $w_triple+=, $w_strides, NEXT
        STEP    TAMP_F16V4_E4_P2 $azeros $azeros $even st64pace $odd, $w_triple+=, $w_strides, NEXT
        STEP    TAMP_F16V4_E4_P3 $azeros $azeros $odd st64pace $even, $w_triple+=, $w_strides, NEXT
        st64pace $odd, $w_triple+=, $w_strides, NEXT
.endm

// One row of four: partials enter in the last two of four steps and leave in the first two.
.macro ROW_OF_4 OUT SECOND OFFSET
        add     $w_dy, $w_base, \OFFSET
        ld64    $p, \OUT, $mzero, 0
        STEP    TAMP_F16V4_E2_P2 $azeros $p $azeros ld64 $odd, \OUT, $mzero, 1
        STEP    TAMP_F16V4_E2_P3 $azeros $odd $azeros ld64step $x, $mzero, $w_dy+=, 1
        STEP    TAMP_F16V4_E2_P0 $x $azeros $azeros ld64step $p, $mzero, $w_dy+=, 1
        STEP    TAMP_F16V4_E2_P1 $p $azeros $azeros ld64step $x, $mzero, $w_dy+=, 1
        STEP    TAMP_F16V4_E2_P2 $x $azeros $azeros ld64step $p, $mzero, $w_dy+=, 1
        STEP    TAMP_F16V4_E2_P3 $p $azeros $azeros nop
        STEP    TAMP_F16V4_E2_P0 $azeros $azeros $even nop
        STEP    TAMP_F16V4_E2_P1 $azeros $azeros $odd st64 $even, \OUT, $mzero, 0
        st64    $odd, \OUT, $mzero, 1
.endm

        AMP_VALUES dynamic_block4_amp_values_f32 4 6 4 1 0 1 ROW_OF_4 LOAD_WEIGHTS_ONE_SET 4 4
        AMP_VALUES dynamic_block8_amp_values_f32 8 8 4 2 1<<10 1 PAIR LOAD_WEIGHTS_ONE_SET 8 4
        AMP_VALUES dynamic_block16_amp_values_f32 16 10 8 2 5<<10 2 PAIR LOAD_WEIGHTS_ONE_SET 8 4
#else
.macro STEP PHASE X P RESULT MAIN:vararg
        { \MAIN ; f32sisoamp \RESULT, \X, \P, \PHASE }
.endm

// Eight steps on a row: two inputs a word, partials enter and results leave in every other step.
.macro ROW_OF_4 OUT SECOND OFFSET
        add     $w_dy, $w_base, \OFFSET
        ld64    $p, \OUT, $mzero, 0
        STEP    TAMP_F32_E2_P4 $azero $p $azeros ld64 $odd, \OUT, $mzero, 1
        STEP    TAMP_F32_E2_P6 $azero $odd $azeros ld64step $x, $mzero, $w_dy+=, 1
        STEP    TAMP_F32_E2_P0 $a0 $azeros $azeros ld64step $p, $mzero, $w_dy+=, 1
        STEP    TAMP_F32_E2_P1 $a1 $azeros $azeros nop
        STEP    TAMP_F32_E2_P2 $a2 $azeros $azeros ld64step $x, $mzero, $w_dy+=, 1
        STEP    TAMP_F32_E2_P3 $a3 $azeros $azeros nop
        STEP    TAMP_F32_E2_P4 $a0 $azeros $azeros ld64step $p, $mzero, $w_dy+=, 1
        STEP    TAMP_F32_E2_P5 $a1 $azeros $azeros nop
        STEP    TAMP_F32_E2_P6 $a2 $azeros $azeros nop
        STEP    TAMP_F32_E2_P7 $a3 $azeros $azeros nop
        STEP    TAMP_F32_E2_P0 $azero $azeros $even nop
        STEP    TAMP_F32_E2_P2 $azero $azeros $odd st64 $even, \OUT, $mzero, 0
        st64    $odd, \OUT, $mzero, 1
.endm

.macro PAIR OUT SECOND OFFSET
        ld128   $a4:7, \OUT, $mzero, 0
        STEP    TAMP_F32_E4_P0 $azero $a4:5 $azeros add $w_dy, $w_base, \OFFSET
        STEP    TAMP_F32_E4_P2 $azero $a6:7 $azeros ld128 $a4:7, \OUT, $mzero, 1
        STEP    TAMP_F32_E4_P4 $azero $a4:5 $azeros ld64 $p, \OUT, $mzero, 4
        STEP    TAMP_F32_E4_P6 $azero $a6:7 $azeros ld64step $x, $mzero, $w_dy+=, 1
        STEP    TAMP_F32_E4_P0 $a0 $p $azeros ld64 $p, \OUT, $mzero, 5
        STEP    TAMP_F32_E4_P1 $a1 $azeros $azeros ld64step $x, $mzero, $w_dy+=, 1
        STEP    TAMP_F32_E4_P2 $a0 $p $azeros ld64 $p, \OUT, $mzero, 6
        STEP    TAMP_F32_E4_P3 $a1 $azeros $azeros ld64step $x, $mzero, $w_dy+=, 1
        STEP    TAMP_F32_E4_P4 $a0 $p $azeros ld64 $p, \OUT, $mzero, 7
        STEP    TAMP_F32_E4_P5 $a1 $azeros $azeros ld64step $x, $mzero, $w_dy+=, 1
        STEP    TAMP_F32_E4_P6 $a0 $p $azeros nop
        STEP    TAMP_F32_E4_P7 $a1 $azeros $azeros ld64step $x, $mzero, $w_dy+=, 1
        STEP    TAMP_F32_E4_P0 $a0 $azeros $even nop
        STEP    TAMP_F32_E4_P1 $a1 $azeros $azeros ld64step $x, $mzero, $w_dy+=, 1
        STEP    TAMP_F32_E4_P2 $a0 $azeros $odd st64 $even, \OUT, $mzero, 0
        STEP    TAMP_F32_E4_P3 $a1 $azeros $azeros ld64step $x, $mzero, $w_dy+=, 1
        STEP    TAMP_F32_E4_P4 $a0 $azeros $even st64 $odd, \OUT, $mzero, 1
        STEP    TAMP_F32_E4_P5 $a1 $azeros $azeros ld64step $x, $mzero, $w_dy+=, 1
        STEP    TAMP_F32_E4_P6 $a0 $azeros $odd st64 $even, \OUT, $mzero, 2
        STEP    TAMP_F32_E4_P7 $a1 $azeros $azeros st64 $odd, \OUT, $mzero, 3
        STEP    TAMP_F32_E4_P0 $azero $azeros $even nop
        STEP    TAMP_F32_E4_P2 $azero $azeros $odd st64 $even, \OUT, $mzero, 4
        STEP    TAMP_F32_E4_P4 $azero $azeros $even st64 $odd, \OUT, $mzero, 5
        STEP    TAMP_F32_E4_P6 $azero $azeros $odd st64 $even, \OUT, $mzero, 6
        st64    $odd, \OUT, $mzero, 7
.endm

        AMP_VALUES dynamic_block4_amp_values_single 4 6 4 1 0 1 ROW_OF_4 LOAD_WEIGHTS_ONE_SET 4 4
        AMP_VALUES dynamic_block8_amp_values_single 8 8 4 2 0 1 PAIR LOAD_WEIGHTS_ONE_SET 8 4
#endif
