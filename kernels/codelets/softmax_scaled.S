// SPDX-License-Identifier: MIT
// softmax of z = scale x + mask over each row, of type t (f16, f32), computed in FP32. There is a mask, of one row for all rows of the
// vertex, if MASKED is 1. If CAUSAL is 1 a row sees its first elements only: out is 0 behind them.
//   v            MASKED  CAUSAL
//   scaled       0       0           softmax_scaled_f16.S, softmax_scaled_f32.S
//   masked       1       0           softmax_masked_f16.S, ...
//   causal       0       1
//   causal_mask  1       1
// Those files name the vertices WHOLE and PARTS.
//
// Vertices (multi worker):
//   softmax_v_t         whole rows. Worker w has rows w, w + workers, ...
//   softmax_v_parts_t   rows that all workers share, before softmax_join_t: as softmax_parts_t of softmax_split.S. Worker w has the pairs of
//                       elements w, w + workers, ... of each row, at least one
// All z of a pair of elements stand in `exponentials` until they are known to the last one, and then their exponentials: in FP32, 4 bytes
// for each element and 4 more if they are odd; 8-byte aligned.
// A row of which all z are -infinity has zeros as exponentials, and the sum 2^-126.
//
// State, words:
//     0 rows           parts: rows - 1
//     1, 2 x           of row 0, and bytes from row to row; 4-byte (f16) or 8-byte aligned
//     3, 4 out         the same, 8-byte aligned; does not overlap x. f32: exponentials too
//          exponentials    parts: the same; f32: may be out
//     5                pairs of a row, one that is not full counted. parts: those of each worker
//     6                f16: bytes of room for each worker. parts: workers that have one pair more
//     7, 8             number of the last element that row 0 sees, and from row to row
//     9 scale
//    10                the least FP32 number
//    11                f16: room for exponentials. parts: partials, [row][worker] of 8 bytes, 8-byte aligned
//    12 mask           if MASKED; f32, whole rows: 11. 8-byte aligned
// Workers and pairs of a row are together below 2^14 in parts.
// Timing: softmax_cost.h.
// Source: docs/evidence.md#instruction-set.

#include "softmax.inc"

#if ELEMENT_BITS == 16
#define WHOLE_MASK 12
#define PAIR_SHIFT 2    // bytes of a pair of x
#else
#define WHOLE_MASK 11
#define PAIR_SHIFT 3
#endif
#define RECIPROCAL_SHIFT 18
#define RECIPROCAL (((1 << RECIPROCAL_SHIFT) + CTXT_WORKERS - 1) / CTXT_WORKERS)

#define mask m2
#define offset m3       // of the worker's first pair in a row of x
#define rows m5
#define scale a4
#define last_z a5
#define z a6:7
// whole rows
#define out m1
#define room m8
#if ELEMENT_BITS == 16
#define whole_exponentials room
#else
#define whole_exponentials out
#endif
// parts
#define exponentials m1
#define partials m8

// Stores the exponentials of the worker's `pairs` whole pairs of a row. If `odd` is not 0, the last element that the row sees follows, with a
// zero beside it, and counts as one of `pairs` from then on. `to` is behind them. max, max_again = the largest z of them and of the last
// element, or the least number; sums = the sums of even and of odd elements.
.macro EXPONENTIALS_OF_Z NAME STRIDE TO MASK_WORD
#if ELEMENT_BITS == 16
        { ldb16 $a0, $x, $mzero, $last ; fnop }
        { ld32  $scale, $mvertex_base, $mzero, 9 ; f16v2tof32 $a0:1, $a0 }
#else
        { ld32  $a0, $x, $mzero, $last ; fnop }
        { ld32  $scale, $mvertex_base, $mzero, 9 ; mov $a1, $a0 }
#endif
#if MASKED
        { ld32  $mask, $mvertex_base, $mzero, \MASK_WORD ; f32v2mul $a0:1, $scale:B, $a0:1 }
#if ELEMENT_BITS == 16
        { ldb16 $a6, $mask, $mzero, $last ; fnop }
        { add   $from, $x, $offset ; f16v2tof32 $z, $a6 }
#else
        { ld32  $a6, $mask, $mzero, $last ; fnop }
        { add   $from, $x, $offset ; mov $a7, $a6 }
#endif
        { add   $mask, $mask, $offset ; f32v2add $z, $a0:1, $z }
#else
        { add   $from, $x, $offset ; f32v2mul $z, $scale:B, $a0:1 }
#endif
        { mov   $to, $\TO ; mov $last_z, $a6 }
        { setzi $spare, 0 ; fnop }
        { rpt   $pairs, (.Lend_prepare_\NAME - .Lprepare_\NAME) / 8 - 1 ; mov $maxima, $z }
// What a round has made is stored in the next; what the first one stores is overwritten.
.Lprepare_\NAME:
#if ELEMENT_BITS == 16
        { ld32step $a0, $mzero, $from+=, \STRIDE ; f32v2max $maxima, $maxima, $z }
        { st64step $z, $mzero, $to+=, $spare ; f16v2tof32 $a0:1, $a0 }
#if MASKED
        { ld32step $a6, $mzero, $mask+=, \STRIDE ; f32v2mul $a0:1, $scale:B, $a0:1 }
        { setzi $spare, \STRIDE ; f16v2tof32 $z, $a6 }
        { nop   ; f32v2add $z, $a0:1, $z }
#else
        { setzi $spare, \STRIDE ; f32v2mul $z, $scale:B, $a0:1 }
#endif
#else
        { ld64step $a0:1, $mzero, $from+=, \STRIDE ; f32v2max $maxima, $maxima, $z }
#if MASKED
        { st64step $z, $mzero, $to+=, $spare ; f32v2mul $a0:1, $scale:B, $a0:1 }
        { ld64step $z, $mzero, $mask+=, \STRIDE ; fnop }
        { setzi $spare, \STRIDE ; f32v2add $z, $a0:1, $z }
#else
        { st64step $z, $mzero, $to+=, $spare ; fnop }
        { setzi $spare, \STRIDE ; f32v2mul $z, $scale:B, $a0:1 }
#endif
#endif
.Lend_prepare_\NAME:
        { st64step $z, $mzero, $to+=, $spare ; f32v2max $maxima, $maxima, $z }
        { ld32  $a0, $mvertex_base, $mzero, 10 ; f32max $max, $max, $max_again }
        { brz   $odd, .Lprepared_\NAME ; f32max $max, $max, $a0 }
.Lodd_\NAME:
        { nop   ; mov $a6, $last_z }
        { nop   ; or $a7, $azero, 0xff800000 }
        { st64  $z, $to, $mzero, 0 ; fnop }
.Lprepared_\NAME:
        { add   $pairs, $pairs, $odd ; zero $sums }
        { mov   $from, $\TO ; zero $powers }
        { mov   $to, $\TO ; fnop }
        { setzi $spare, 0 ; fnop }
        EXPONENTIALS_OF_F32 \NAME, \STRIDE
        { st64step $powers, $mzero, $to+=, $spare ; f32v2add $sums, $sums, $powers }
.endm

// Of `all` pairs, stores zeros behind `pairs`.
.macro HIDE NAME STRIDE ALL
        { sub   \ALL, \ALL, $pairs ; fnop }
        { rpt   \ALL, 0 ; zero $a0:1 }
.Lhide_\NAME:
        { st64step $a0:1, $mzero, $to+=, \STRIDE ; fnop }
.Lend_hide_\NAME:
.endm

// The pairs that a row sees, and whether the last one is not full.
.macro SEEN_PAIRS
        { add   $pairs, $last, 1 ; fnop }
        { and   $odd, $pairs, 1 ; fnop }
        { shr   $pairs, $pairs, 1 ; fnop }
.endm

        .section .text.WHOLE, "ax"
        .worker
        .align 8
        .globl WHOLE
WHOLE:
        WORKER_INDEX $spare
        ld32    $rows, $mvertex_base, $mzero, 0
        // rows from this worker's first on, in steps of all workers
        sub     $rows, $rows, $spare
        add     $rows, $rows, -1
        brneg   $rows, .Ldone
.Lsome_rows:
        ld32    $x, $mvertex_base, $mzero, 1
        ld32    $from, $mvertex_base, $mzero, 2
        mul     $from, $from, $spare
        add     $x, $x, $from
        ld32    $out, $mvertex_base, $mzero, 3
        ld32    $from, $mvertex_base, $mzero, 4
        mul     $from, $from, $spare
        add     $out, $out, $from
        { ld32  $last, $mvertex_base, $mzero, 7 ; fnop }
#if CAUSAL
        { ld32  $from, $mvertex_base, $mzero, 8 ; fnop }
        mul     $from, $from, $spare
        add     $last, $last, $from
#endif
#if ELEMENT_BITS == 16
        ld32    $room, $mvertex_base, $mzero, 11
        ld32    $from, $mvertex_base, $mzero, 6
        mul     $from, $from, $spare
        add     $room, $room, $from
#endif
        { setzi $offset, 0 ; fnop }
#if !CAUSAL
        SEEN_PAIRS
#endif
.Lrow:
#if CAUSAL
        SEEN_PAIRS
#endif
        EXPONENTIALS_OF_Z WHOLE, 1, whole_exponentials, WHOLE_MASK
        { ld32  $spare, $mvertex_base, $mzero, 5 ; f32add $sum, $sum, $other_sum }
#if CAUSAL
        HIDE    WHOLE, 1, $spare
        { ld32  $spare, $mvertex_base, $mzero, 5 ; fnop }
#else
        { sub   $pairs, $pairs, $odd ; fnop }
#endif
        { add   $spare, $spare, -1 ; or $a0, $azero, 0x00800000 }
        { mov   $from, $whole_exponentials ; f32add $sum, $sum, $a0 }
        { ld64step $a0:1, $mzero, $from+=, 1 ; f32oox $sum, $sum }
        { mov   $to, $out ; f32v2mul $powers, $sum:B, $a0:1 }
        SCALE_PAIRS WHOLE, 1, $spare, and $spare, $spare, 1
        ld32    $from, $mvertex_base, $mzero, 2
        mul     $from, $from, CTXT_WORKERS
        add     $x, $x, $from
        ld32    $from, $mvertex_base, $mzero, 4
        mul     $from, $from, CTXT_WORKERS
        add     $out, $out, $from
#if CAUSAL
        ld32    $from, $mvertex_base, $mzero, 8
        mul     $from, $from, CTXT_WORKERS
        add     $last, $last, $from
#endif
        add     $rows, $rows, -CTXT_WORKERS
        brpos   $rows, .Lrow
.Ldone:
        exitz   $mzero

// Of `pairs` whole pairs of a row, those of the worker: one less than the number of its first pair beyond them, in rounds of all workers.
.macro OWN_PAIRS
        { shr   $from, $offset, PAIR_SHIFT ; fnop }
        { sub   $from, $pairs, $from ; fnop }
        { setzi $to, RECIPROCAL ; fnop }
        { add   $pairs, $from, CTXT_WORKERS - 1 ; fnop }
        { mul   $pairs, $pairs, $to ; fnop }
        { shr   $pairs, $pairs, RECIPROCAL_SHIFT ; fnop }
        // the last of an odd number of elements is the worker's whose next pair it is
        { mul   $to, $pairs, CTXT_WORKERS ; fnop }
        { cmpeq $to, $to, $from ; fnop }
        { and   $odd, $odd, $to ; fnop }
.endm

        .section .text.PARTS, "ax"
        .worker
        .align 8
        .globl PARTS
PARTS:
        WORKER_INDEX $spare
        shl     $offset, $spare, PAIR_SHIFT
        ld32    $rows, $mvertex_base, $mzero, 0
        ld32    $x, $mvertex_base, $mzero, 1
        ld32    $exponentials, $mvertex_base, $mzero, 3
        ld32    $last, $mvertex_base, $mzero, 7
        ld32    $partials, $mvertex_base, $mzero, 11
        shl     $spare, $spare, 3
        add     $exponentials, $exponentials, $spare
        { add   $partials, $partials, $spare ; fnop }
#if !CAUSAL
        SEEN_PAIRS
        OWN_PAIRS
#endif
.Lrow_parts:
#if CAUSAL
        SEEN_PAIRS
        OWN_PAIRS
#endif
        EXPONENTIALS_OF_Z PARTS, CTXT_WORKERS, exponentials, 12
#if CAUSAL
        { ld32  $spare, $mvertex_base, $mzero, 5 ; fnop }
        { ld32  $odd, $mvertex_base, $mzero, 6 ; fnop }
        { shr   $from, $offset, PAIR_SHIFT ; fnop }
        { cmpult $odd, $from, $odd ; fnop }
        { add   $spare, $spare, $odd ; fnop }
        HIDE    PARTS, CTXT_WORKERS, $spare
        { ld32  $from, $mvertex_base, $mzero, 8 ; fnop }
        { add   $last, $last, $from ; f32add $sum, $sum, $other_sum }
#else
        { sub   $pairs, $pairs, $odd ; f32add $sum, $sum, $other_sum }
#endif
        { ld32  $from, $mvertex_base, $mzero, 2 ; or $a0, $azero, 0x00800000 }
        { add   $x, $x, $from ; f32add $max_again, $sum, $a0 }
        { st64step $maxima, $mzero, $partials+=, CTXT_WORKERS ; fnop }
        { ld32  $from, $mvertex_base, $mzero, 4 ; fnop }
        { add   $exponentials, $exponentials, $from ; fnop }
        { brnzdec $rows, .Lrow_parts ; fnop }
.Ldone_parts:
        exitz   $mzero
