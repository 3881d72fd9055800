// SPDX-License-Identifier: MIT
// out = exp(x - max of x) / sum of exp(x - max of x) over each row, of type t (f16, f32; softmax_f16.S, softmax_f32.S), computed
// in FP32. Worker w has rows w, w + workers, ...
//
// Vertex softmax_t (multi worker). State, words:
//     0 x             of row 0; 4-byte (f16) or 8-byte aligned
//     1 out           of row 0; 8-byte aligned, does not overlap x; a row is written with its padding to 8 bytes
//     2, 3            bytes from row to row, of x and of out
//     4 rows
//     5 elements      of a row; at least one
//     6 room, 7 bytes of it for each worker       f16: 4 bytes for each element and 4 more if they are odd; 8-byte aligned
//   Pairs of elements are at most what a repeat counts.
// The exponentials of a row stand in `room` (f16) or in `out` until their sum is known.
// Timing, worker issues with r rows of n elements, p = n / 2, q = (n + 1) / 2, n odd: o = 1:
//   f32: 21 + r (23 + 9 p + 6 o + 2 (q - 1)), f16: 25 + r (24 + 10 p + 7 o + 2 (q - 1) + (q odd: 1)); 7 without rows.
// Source: docs/evidence.md#instruction-set.

#if ELEMENT_BITS == 16
#define SOFTMAX softmax_f16
#define exponentials room
#else
#define SOFTMAX softmax_f32
#define exponentials out
#endif
#define out m1
#define x_step m2
#define out_step m3
#define rows m5
#define room m8

#include "softmax.inc"

        .section .text.SOFTMAX, "ax"
        .worker
        .align 8
        .globl SOFTMAX
SOFTMAX:
        WORKER_INDEX $spare
        ld32    $rows, $mvertex_base, $mzero, 4
        // rows from this worker's first on, in steps of all workers
        sub     $rows, $rows, $spare
        add     $rows, $rows, -1
        brneg   $rows, .Ldone
.Lsome_rows:
        ld32    $x, $mvertex_base, $mzero, 0
        ld32    $out, $mvertex_base, $mzero, 1
        ld32    $x_step, $mvertex_base, $mzero, 2
        ld32    $out_step, $mvertex_base, $mzero, 3
        ld32    $last, $mvertex_base, $mzero, 5
        shr     $pairs, $last, 1
        and     $odd, $last, 1
        add     $last, $last, -1
#if ELEMENT_BITS == 16
        ld32    $room, $mvertex_base, $mzero, 6
        ld32    $from, $mvertex_base, $mzero, 7
        mul     $from, $from, $spare
        add     $room, $room, $from
#endif
        mul     $from, $x_step, $spare
        add     $x, $x, $from
        mul     $from, $out_step, $spare
        add     $out, $out, $from
        mul     $x_step, $x_step, CTXT_WORKERS
        mul     $out_step, $out_step, CTXT_WORKERS
.Lrow:
        LARGEST_OF_PAIRS SOFTMAX, 1
        { setzi $spare, 0 ; f32max $max, $max, $max_again }
        EXPONENTIALS SOFTMAX, 1
        { mov   $from, $exponentials ; f32add $sum, $sum, $other_sum }
        { ld64step $a0:1, $mzero, $from+=, 1 ; f32oox $sum, $sum }
        { mov   $to, $out ; f32v2mul $powers, $sum:B, $a0:1 }
        { shr   $spare, $last, 1 ; fnop }
        SCALE_PAIRS SOFTMAX, 1, $spare, and $spare, $spare, 1
        add     $x, $x, $x_step
        add     $out, $out, $out_step
        add     $rows, $rows, -CTXT_WORKERS
        brpos   $rows, .Lrow
.Ldone:
        exitz   $mzero
