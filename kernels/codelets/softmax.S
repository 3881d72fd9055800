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

#include "worker_share.inc"

#if ELEMENT_BITS == 16
#define SOFTMAX softmax_f16
#define exponentials room
#define EXP_ROUND 5     // bundles
#elif ELEMENT_BITS == 32
#define SOFTMAX softmax_f32
#define exponentials out
#define EXP_ROUND 4
#else
#error "ELEMENT_BITS: expected 16 or 32"
#endif

#define x m0
#define out m1
#define x_step m2
#define out_step m3
#define last m4         // number of the last element
#define rows m5
#define pairs m6
#define odd m7
#define room m8
#define from m9
#define to m10
#define spare m11
#define max a2
#define max_again a3
#define maxima a2:3
#define sum a4
#define other_sum a5
#define sums a4:5
#define powers a6:7

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
// The maximum begins with the last element, so that pairs of all the others suffice.
#if ELEMENT_BITS == 16
        ldb16   $max, $x, $mzero, $last
        mov     $a0, $max
#else
        ld32    $max, $x, $mzero, $last
        mov     $max_again, $max
        { nop   ; mov $a0:1, $maxima }
#endif
        { mov   $from, $x ; zero $sums }
        { rpt   $pairs, 0 ; zero $powers }
.Lmax:
#if ELEMENT_BITS == 16
        { ld32step $a0, $mzero, $from+=, 1 ; f16v2max $max, $max, $a0 }
.Lend_max:
        { mov   $from, $x ; f16v2max $max, $max, $a0 }
        { mov   $to, $exponentials ; f16v2tof32 $maxima, $max }
#else
        { ld64step $a0:1, $mzero, $from+=, 1 ; f32v2max $maxima, $maxima, $a0:1 }
.Lend_max:
        { mov   $from, $x ; f32v2max $maxima, $maxima, $a0:1 }
        { mov   $to, $exponentials ; fnop }
#endif
        { setzi $spare, 0 ; f32max $max, $max, $max_again }
// What a round has made is stored in the next; what the first one stores is overwritten.
        { rpt   $pairs, EXP_ROUND - 1 ; mov $max_again, $max }
.Lpair:
#if ELEMENT_BITS == 16
        { ld32step $a0, $mzero, $from+=, 1 ; f32v2add $sums, $sums, $powers }
        { st64step $powers, $mzero, $to+=, $spare ; f16v2tof32 $a0:1, $a0 }
        { setzi $spare, 1 ; f32v2sub $a0:1, $a0:1, $maxima }
        { nop   ; f32exp $a6, $a0 }
#else
        { ld64step $a0:1, $mzero, $from+=, 1 ; f32v2add $sums, $sums, $powers }
        { st64step $powers, $mzero, $to+=, $spare ; f32v2sub $a0:1, $a0:1, $maxima }
        { setzi $spare, 1 ; f32exp $a6, $a0 }
#endif
        { nop   ; f32exp $a7, $a1 }
.Lend_pair:
        { brz   $odd, .Leven ; fnop }
// The last element has a zero beside it.
.Lodd:
#if ELEMENT_BITS == 16
        { ldb16 $a0, $from, $mzero, 0 ; f32v2add $sums, $sums, $powers }
        { st64step $powers, $mzero, $to+=, $spare ; f16tof32 $a0, $a0 }
        { nop   ; f32sub $a0, $a0, $max }
#else
        { ld32  $a0, $from, $mzero, 0 ; f32v2add $sums, $sums, $powers }
        { st64step $powers, $mzero, $to+=, $spare ; f32sub $a0, $a0, $max }
#endif
        { nop   ; f32exp $a6, $a0 }
        { nop   ; zero $a7 }
.Leven:
        { st64step $powers, $mzero, $to+=, 1 ; f32v2add $sums, $sums, $powers }
        { mov   $from, $exponentials ; f32add $sum, $sum, $other_sum }
        { ld64step $a0:1, $mzero, $from+=, 1 ; f32oox $sum, $sum }
        { mov   $to, $out ; f32v2mul $a6:7, $sum:B, $a0:1 }
        { shr   $spare, $last, 1 ; fnop }
        { rpt   $spare, 1 ; fnop }
.Lscale:
#if ELEMENT_BITS == 16
        { ld64step $a0:1, $mzero, $from+=, 1 ; f32v2tof16 $a2, $a6:7 }
        { st32step $a2, $mzero, $to+=, 1 ; f32v2mul $a6:7, $sum:B, $a0:1 }
.Lend_scale:
        { and   $spare, $spare, 1 ; f32v2tof16 $a2, $a6:7 }
        st32step $a2, $mzero, $to+=, 1
        brnz    $spare, .Lnext_row
.Lpad:
        st32    $azero, $to, $mzero, 0
.Lnext_row:
#else
        { ld64step $a0:1, $mzero, $from+=, 1 ; fnop }
        { st64step $a6:7, $mzero, $to+=, 1 ; f32v2mul $a6:7, $sum:B, $a0:1 }
.Lend_scale:
        st64step $a6:7, $mzero, $to+=, 1
#endif
        add     $x, $x, $x_step
        add     $out, $out, $out_step
        add     $rows, $rows, -CTXT_WORKERS
        brpos   $rows, .Lrow
.Ldone:
        exitz   $mzero
