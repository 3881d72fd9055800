// SPDX-License-Identifier: MIT
// out[r] = sum, or largest, of the elements of row r, FP16; sums are added up in FP32 and rounded once. A word of `out` is a
// pair of rows: worker w has pairs w, w + workers, ...
//
// Vertices reduce_rows_sum_f16, reduce_rows_max_f16 (multi worker). State, words:
//     0 x             of row 0; 8-byte aligned
//     1 out           4-byte aligned, does not overlap x; behind the result of an odd number of rows comes a zero
//     2               bytes from row to row of x
//     3 rows
//     4 elements      of a row; at least one
//   Quads of elements are at most what a repeat counts.
// A NaN among other elements is not the largest.
// Timing, worker issues with p pairs of rows of n elements, q = n / 4 + n % 4 (of sums twice):
// 20 + p (22 + 2 q); 8 + q less where the last pair is one row; 8 without rows.
// Source: docs/evidence.md#instruction-set (accumulator instructions).

#include "worker_share.inc"

#define x m0
#define out m1
#define step m2
#define last m3         // number of the last element
#define rows m4
#define quads m5
#define tail m6
#define pair_step m7
#define from m8
#define spare m9
#define pair m10
#define first_result a6
#define second_result a7

.macro START NAME
        .section .text.\NAME, "ax"
        .worker
        .align 8
        .globl \NAME
\NAME:
        WORKER_INDEX $spare
        ld32    $rows, $mvertex_base, $mzero, 3
        shl     $pair, $spare, 1
        // rows behind this worker's first, in steps of all workers
        sub     $rows, $rows, $pair
        add     $rows, $rows, -1
        brneg   $rows, .Ldone_\NAME
.Lsome_rows_\NAME:
        ld32    $x, $mvertex_base, $mzero, 0
        ld32    $out, $mvertex_base, $mzero, 1
        ld32    $step, $mvertex_base, $mzero, 2
        ld32    $last, $mvertex_base, $mzero, 4
        mul     $from, $step, $pair
        add     $x, $x, $from
        shl     $from, $spare, 2
        add     $out, $out, $from
        { mul   $pair_step, $step, 2 * CTXT_WORKERS ; setzi $a0, 1 << CSR_W_FP_CLR__ZAACC__SHIFT }
        { shr   $quads, $last, 2 ; uput $FP_CLR, $a0 }
        { and   $tail, $last, 3 ; fnop }
        add     $last, $last, -1
.endm

// The row at `from`; MAIN is done beside.
.macro SUM RESULT PLACE MAIN:vararg
.Lrow_\PLACE:
        { rpt   $quads, 0 ; zero $a0:1 }
.Lquad_\PLACE:
        { ld64step $a0:1, $mzero, $from+=, 1 ; f16v4acc $a0:1 }
.Lend_quad_\PLACE:
        { nop   ; f16v4acc $a0:1 }
        { rpt   $tail, 1 ; zero $a2:3 }
.Ltail_\PLACE:
        { ldb16step $a0, $mzero, $from+=, 1 ; f32add $a2, $a2, $a3 }
        { nop   ; f16tof32 $a3, $a0 }
.Lend_tail_\PLACE:
        { nop   ; f32v2gina $a0:1, $azeros, 0 }
        { nop   ; f32v2add $a2:3, $a2:3, $a0:1 }
        { nop   ; f32v2gina $a0:1, $azeros, 0 }
        { nop   ; f32v2add $a2:3, $a2:3, $a0:1 }
        { \MAIN ; f32add $\RESULT, $a2, $a3 }
.Lend_row_\PLACE:
.endm

// The largest begins with the last element, so that it is there with less than a quad, too.
.macro MAX RESULT PLACE MAIN:vararg
.Lrow_\PLACE:
        { ldb16 $a2, $from, $mzero, $last ; fnop }
        { nop   ; mov $a3, $a2 }
        { rpt   $quads, 0 ; mov $a0:1, $a2:3 }
.Lquad_\PLACE:
        { ld64step $a0:1, $mzero, $from+=, 1 ; f16v4max $a2:3, $a2:3, $a0:1 }
.Lend_quad_\PLACE:
        { rpt   $tail, 0 ; f16v4max $a2:3, $a2:3, $a0:1 }
.Ltail_\PLACE:
        { ldb16step $a0, $mzero, $from+=, 1 ; f16v2max $a2, $a2, $a0 }
.Lend_tail_\PLACE:
        { nop   ; f16v2max $a2, $a2, $a0 }
        { nop   ; f16v2max $a2, $a2, $a3 }
        { nop   ; swap16 $a3, $a2 }
        { \MAIN ; f16v2max $\RESULT, $a2, $a3 }
.Lend_row_\PLACE:
.endm

.macro REDUCE NAME ROW PACK:vararg
        START \NAME
.Lpair_\NAME:
        { mov   $from, $x ; zero $second_result }
        \ROW first_result first_\NAME add $from, $x, $step
        { brz   $rows, .Lalone_\NAME ; fnop }
        \ROW second_result second_\NAME nop
.Lalone_\NAME:
        { add   $x, $x, $pair_step ; \PACK }
        { st32step $a0, $mzero, $out+=, CTXT_WORKERS ; fnop }
        add     $rows, $rows, -2 * CTXT_WORKERS
        brpos   $rows, .Lpair_\NAME
.Ldone_\NAME:
        exitz   $mzero
.endm

        REDUCE  reduce_rows_sum_f16 SUM f32v2tof16 $a0, $a6:7
        REDUCE  reduce_rows_max_f16 MAX sort4x16lo $a0, $first_result, $second_result
