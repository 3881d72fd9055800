// SPDX-License-Identifier: MIT
// A softmax of few rows, which all workers share, of type t (f16, f32; softmax_split_f16.S, softmax_split_f32.S), computed in FP32 as
// softmax.S does. Worker w has the pairs of elements w, w + workers, ... of each row, at least one; the last element of an odd number
// is a pair with a zero.
//
// softmax_parts_t, then softmax_join_t (multi worker), which need a sync between them:
//   parts   exponentials = exp(x - m) for the largest m of the worker's own elements and the row's last one; partials = (m, sum of them)
//   join    out = exponentials * exp(m - M) / S, for M and S of the whole row, which every worker makes of all partials
// A share in which all is -infinity has the least FP32 number as m, so that its exponentials are 0.
// A row may be cut into slices of several tiles: join then has the partials of all of them.
//
// State, words:
//     0 rows - 1
//     1, 2 x          parts: of row 0, and bytes from row to row; 4-byte (f16) or 8-byte aligned
//          out        join: the same; 8-byte aligned; a row is written with its padding to 8 bytes
//     3, 4 exponentials    of row 0, and bytes from row to row: 4 bytes for each element and 4 more if they are odd; 8-byte aligned.
//                     f32: may be out
//     5, 6            pairs of each worker, and workers that have one more. parts: of whole pairs; join: of all
//     7               parts: the worker that has the last of an odd number of elements; join, f16: the one that adds the padding.
//                     The number of workers if there is none
//     8 partials      [row][worker] of 8 bytes, 8-byte aligned; join: [row][share], all shares of a row
//     9 elements - 1  parts, of a row
//       shares        join: how many there are, all workers' of all tiles that have a slice of the row
//    10               parts: the least FP32 number. join: the number of worker 0's share
// Timing, worker issues with r rows, p pairs of the worker in parts (o = 1 if it has the last element too), q pairs in join:
//   parts: f32: 23 + r (16 + 9 p + 6 o), f16: 23 + r (15 + 10 p + 7 o)
//   join:  f32: 22 + r (20 + 7 shares + 2 (q - 1)), f16: 22 + r (22 + 7 shares + 2 (q - 1) + (padding: 1)).
// Source: docs/evidence.md#instruction-set.

#if ELEMENT_BITS == 16
#define SOFTMAX_PARTS softmax_parts_f16
#define SOFTMAX_JOIN softmax_join_f16
#define PAIR_SHIFT 2    // bytes of a pair of x and of out
#else
#define SOFTMAX_PARTS softmax_parts_f32
#define SOFTMAX_JOIN softmax_join_f32
#define PAIR_SHIFT 3
#endif
#define PART_SHIFT 3    // bytes of a pair of exponentials, and of a partial

#define exponentials m1
#define x_step m2
#define exponentials_step m3
#define rows m5
#define partials m8

// join
#define out m0
#define out_step m2
#define index m4
#define full m7         // 0: this worker adds the padding
#define own a2          // maximum of the worker's share, then what all its exponentials are multiplied by
#define own_partial a2:3
#define all a3          // maximum of the row
#define product a5

#include "softmax.inc"

// SIDE is x or out. Leaves the worker's number in `spare` and the offset of its first partial in `from`.
.macro START NAME SIDE SIDE_STEP
        .section .text.\NAME, "ax"
        .worker
        .align 8
        .globl \NAME
\NAME:
        WORKER_INDEX $spare
        LOAD_SHARE 5 EACH=$pairs MORE=$from
        OWN_UNITS UNITS=$pairs INDEX=$spare EACH=$pairs MORE=$from FLAG=$to
        ld32    $rows, $mvertex_base, $mzero, 0
        ld32    \SIDE, $mvertex_base, $mzero, 1
        ld32    \SIDE_STEP, $mvertex_base, $mzero, 2
        ld32    $exponentials, $mvertex_base, $mzero, 3
        ld32    $exponentials_step, $mvertex_base, $mzero, 4
        ld32    $partials, $mvertex_base, $mzero, 8
        shl     $from, $spare, PAIR_SHIFT
        add     \SIDE, \SIDE, $from
        shl     $from, $spare, PART_SHIFT
        add     $exponentials, $exponentials, $from
.endm

        START   SOFTMAX_PARTS, $x, $x_step
        add     $partials, $partials, $from
        ld32    $odd, $mvertex_base, $mzero, 7
        cmpeq   $odd, $odd, $spare
        ld32    $last, $mvertex_base, $mzero, 9
        shl     $spare, $spare, 1
        sub     $last, $last, $spare
.Lrow_parts:
        LARGEST_OF_PAIRS SOFTMAX_PARTS, CTXT_WORKERS
        { ld32  $a0, $mvertex_base, $mzero, 10 ; f32max $max, $max, $max_again }
        { setzi $spare, 0 ; f32max $max, $max, $a0 }
        EXPONENTIALS SOFTMAX_PARTS, CTXT_WORKERS
        { add   $x, $x, $x_step ; f32add $max_again, $sum, $other_sum }
        st64step $maxima, $mzero, $partials+=, CTXT_WORKERS
        add     $exponentials, $exponentials, $exponentials_step
        brnzdec $rows, .Lrow_parts
.Ldone_parts:
        exitz   $mzero

        START   SOFTMAX_JOIN, $out, $out_step
        ld32    $full, $mvertex_base, $mzero, 7
        sub     $full, $full, $spare
        ld32    $index, $mvertex_base, $mzero, 10
        add     $index, $index, $spare
        add     $pairs, $pairs, -1
.Lrow_join:
        ld64    $own_partial, $partials, $mzero, $index
        { ld32  $to, $mvertex_base, $mzero, 9 ; mov $all, $own }
        { mov   $from, $partials ; mov $a0, $own }
        { rpt   $to, 0 ; zero $sums }
.Lall:
        { ld64step $a0:1, $mzero, $from+=, 1 ; f32max $all, $all, $a0 }
.Lend_all:
        { mov   $from, $partials ; f32max $all, $all, $a0 }
        { rpt   $to, 3 ; f32sub $own, $own, $all }
.Lpart:
        { ld64step $a0:1, $mzero, $from+=, 1 ; f32add $sum, $sum, $product }
        { nop   ; f32sub $a0, $a0, $all }
        { nop   ; f32exp $a0, $a0 }
        { nop   ; f32mul $product, $a0, $a1 }
.Lend_part:
        { mov   $partials, $from ; f32add $sum, $sum, $product }
        { mov   $from, $exponentials ; f32oox $sum, $sum }
        { mov   $to, $out ; f32exp $own, $own }
        { ld64step $a0:1, $mzero, $from+=, CTXT_WORKERS ; f32mul $sum, $sum, $own }
        { mov   $spare, $pairs ; f32v2mul $powers, $sum:B, $a0:1 }
        SCALE_PAIRS SOFTMAX_JOIN, CTXT_WORKERS, $full, nop
        add     $out, $out, $out_step
        add     $exponentials, $exponentials, $exponentials_step
        brnzdec $rows, .Lrow_join
.Ldone_join:
        exitz   $mzero
