// SPDX-License-Identifier: MIT
// out[r] = sum, or largest, of the elements of row r, FP32. Worker w has rows w, w + workers, ...
//
// Vertices reduce_rows_sum_f32, reduce_rows_max_f32 (multi worker). State, words:
//     0 x             of row 0; 8-byte aligned
//     1 out           4-byte aligned, does not overlap x; neighbouring words
//     2               bytes from row to row of x
//     3 rows
//     4 elements      of a row; at least one
//   Pairs of elements are at most what a repeat counts.
// A NaN among other elements is not the largest.
// Timing, worker issues with r rows of n elements: sum 18 + r (7 + n / 2, n odd: 2 more), max 18 + r (8 + n / 2); 7 without rows.
// Source: docs/evidence.md#instruction-set.

#include "worker_share.inc"

#define x m0
#define out m1
#define step m2
#define last m3         // number of the last element
#define rows m4
#define pairs m5
#define odd m6
#define from m7
#define spare m8
#define result a2
#define other_result a3
#define results a2:3

.macro START NAME
        .section .text.\NAME, "ax"
        .worker
        .align 8
        .globl \NAME
\NAME:
        WORKER_INDEX $spare
        ld32    $rows, $mvertex_base, $mzero, 3
        // rows from this worker's first on, in steps of all workers
        sub     $rows, $rows, $spare
        add     $rows, $rows, -1
        brneg   $rows, .Ldone_\NAME
.Lsome_rows_\NAME:
        ld32    $x, $mvertex_base, $mzero, 0
        ld32    $out, $mvertex_base, $mzero, 1
        ld32    $step, $mvertex_base, $mzero, 2
        ld32    $last, $mvertex_base, $mzero, 4
        mul     $from, $step, $spare
        add     $x, $x, $from
        shl     $from, $spare, 2
        add     $out, $out, $from
        mul     $step, $step, CTXT_WORKERS
        shr     $pairs, $last, 1
.endm

.macro END NAME
        st32step $result, $mzero, $out+=, CTXT_WORKERS
        add     $rows, $rows, -CTXT_WORKERS
        brpos   $rows, .Lrow_\NAME
.Ldone_\NAME:
        exitz   $mzero
.endm

        START reduce_rows_sum_f32
        { and   $odd, $last, 1 ; fnop }
.Lrow_reduce_rows_sum_f32:
        { mov   $from, $x ; zero $results }
        { rpt   $pairs, 0 ; zero $a0:1 }
.Lpair_reduce_rows_sum_f32:
        { ld64step $a0:1, $mzero, $from+=, 1 ; f32v2add $results, $results, $a0:1 }
.Lend_pair_reduce_rows_sum_f32:
        { brz   $odd, .Leven ; f32v2add $results, $results, $a0:1 }
.Lodd:
        { ld32  $a0, $from, $mzero, 0 ; fnop }
        { nop   ; f32add $result, $result, $a0 }
.Leven:
        { add   $x, $x, $step ; f32add $result, $result, $other_result }
        END reduce_rows_sum_f32

// The largest begins with the last element, so that pairs of all the others suffice.
        START reduce_rows_max_f32
        { add   $last, $last, -1 ; fnop }
.Lrow_reduce_rows_max_f32:
        { ld32  $result, $x, $mzero, $last ; fnop }
        { mov   $from, $x ; mov $other_result, $result }
        { rpt   $pairs, 0 ; mov $a0:1, $results }
.Lpair_reduce_rows_max_f32:
        { ld64step $a0:1, $mzero, $from+=, 1 ; f32v2max $results, $results, $a0:1 }
.Lend_pair_reduce_rows_max_f32:
        { nop   ; f32v2max $results, $results, $a0:1 }
        { add   $x, $x, $step ; f32max $result, $result, $other_result }
        END reduce_rows_max_f32
