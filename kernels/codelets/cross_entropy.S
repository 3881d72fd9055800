// SPDX-License-Identifier: MIT
// The sum over rows of log(sum of exp(x)) - sum of t x, for logits x and targets t. Worker w has rows w, w + workers, ...
//
// Vertices cross_entropy_f16, cross_entropy_f32 (multi worker). State, words:
//     0 x, 1 t        of row 0; 8-byte aligned
//     2, 3            bytes from row to row of x, and of t
//     4 rows
//     5 elements      of a row; at least one, at most what a repeat counts
//     6 sums          pair w is worker w's: its sum, and 0; 8-byte aligned
//   The largest element of a row is subtracted before exponentials are taken. All is computed in FP32.
// Timing, worker issues with r rows of n elements: f16 22 + r (15 + 10 n), f32 22 + r (15 + 8 n), of which 5 a row and 2 an element are
//   waits for logarithms and exponentials; 11 without rows.
// Source: docs/evidence.md#instruction-set.

#include "worker_share.inc"

#define index m0
#define x m1
#define t m2
#define x_step m3
#define t_step m4
#define rows m5
#define elements m6
#define from m7
#define from_t m8
#define spare m9
#define largest a4
#define total a5

.macro CROSS_ENTROPY NAME LOAD LOAD_STEP MAX
        .section .text.\NAME, "ax"
        .worker
        .align 8
        .globl \NAME
\NAME:
        WORKER_INDEX $index
        ld32    $rows, $mvertex_base, $mzero, 4
        // rows from this worker's first on, in steps of all workers
        { sub   $rows, $rows, $index ; zero $a4:5 }
        add     $rows, $rows, -1
        brneg   $rows, .Ldone_\NAME
.Lsome_rows_\NAME:
        ld32    $x, $mvertex_base, $mzero, 0
        ld32    $t, $mvertex_base, $mzero, 1
        ld32    $x_step, $mvertex_base, $mzero, 2
        ld32    $t_step, $mvertex_base, $mzero, 3
        ld32    $elements, $mvertex_base, $mzero, 5
        mul     $spare, $index, $x_step
        add     $x, $x, $spare
        mul     $spare, $index, $t_step
        add     $t, $t, $spare
        { mul   $x_step, $x_step, CTXT_WORKERS ; fnop }
        { mul   $t_step, $t_step, CTXT_WORKERS ; fnop }
.Lrow_\NAME:
        { \LOAD $a0, $x, $mzero, 0 ; fnop }
        { mov   $from, $x ; mov $largest, $a0 }
        { rpt   $elements, 0 ; fnop }
.Lmax_\NAME:
        { \LOAD_STEP $a0, $mzero, $from+=, 1 ; \MAX $largest, $largest, $a0 }
.Lend_max_\NAME:
        { mov   $from, $x ; \MAX $largest, $largest, $a0 }
.endm

.macro GO_ON NAME
.Lend_element_\NAME:
        { add   $x, $x, $x_step ; f32ln $a6, $a6 }
        { add   $t, $t, $t_step ; f32add $a6, $a6, $largest }
        { add   $rows, $rows, -CTXT_WORKERS ; f32sub $a6, $a6, $a7 }
        { brpos $rows, .Lrow_\NAME ; f32add $total, $total, $a6 }
.Ldone_\NAME:
        ld32    $spare, $mvertex_base, $mzero, 6
        zero    $a0:1
        mov     $a0, $total
        st64    $a0:1, $spare, $mzero, $index
        exitz   $mzero
.endm

        CROSS_ENTROPY cross_entropy_f32, ld32, ld32step, f32max
        { mov   $from_t, $t ; zero $a6:7 }
        { rpt   $elements, (.Lend_element_cross_entropy_f32 - .Lelement_cross_entropy_f32) / 8 - 1 ; fnop }
.Lelement_cross_entropy_f32:
        { ld32step $a0, $mzero, $from+=, 1 ; fnop }
        { ld32step $a3, $mzero, $from_t+=, 1 ; f32sub $a2, $a0, $largest }
        { nop   ; f32exp $a2, $a2 }
        { nop   ; f32mul $a3, $a3, $a0 }
        { nop   ; f32v2add $a6:7, $a6:7, $a2:3 }
        GO_ON   cross_entropy_f32

        CROSS_ENTROPY cross_entropy_f16, ldb16, ldb16step, f16v2max
        { mov   $from_t, $t ; f16tof32 $largest, $largest }
        { rpt   $elements, (.Lend_element_cross_entropy_f16 - .Lelement_cross_entropy_f16) / 8 - 1 ; zero $a6:7 }
.Lelement_cross_entropy_f16:
        { ldb16step $a0, $mzero, $from+=, 1 ; fnop }
        { ldb16step $a3, $mzero, $from_t+=, 1 ; f16tof32 $a0, $a0 }
        { nop   ; f32sub $a2, $a0, $largest }
        { nop   ; f32exp $a2, $a2 }
        { nop   ; f16tof32 $a3, $a3 }
        { nop   ; f32mul $a3, $a3, $a0 }
        { nop   ; f32v2add $a6:7, $a6:7, $a2:3 }
        GO_ON   cross_entropy_f16
