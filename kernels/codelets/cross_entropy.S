// SPDX-License-Identifier: MIT
// The sum over rows of log(sum of exp(x)) - sum of t x, for logits x and targets t of type t (f16, f32; cross_entropy_f16.S,
// cross_entropy_f32.S), computed in FP32. A unit is 8 bytes of a row. Rows are cut into shares as in softmax_gradient.S, whose vertex
// softmax_gradient_sums_t makes -(sum of t x) of each share.
//
// Vertex cross_entropy_parts_t (multi worker): partials = (m, sum of exp(x - m)) of each share, where m is its largest x, or the least FP32
// number. State, words:
//     0 x             of row 0, 8-byte aligned
//     1 partials      [row][share] of 8 bytes, 8-byte aligned
//     2, 3            the bits of a row's last unit that are elements
//     4, 5            the bits of -infinity in the others
//     6               the least FP32 number
//     7 ...           of each worker: rows; whole units of a row; 1 if the share ends with a unit that is not whole, else 0; bytes from row 0 to
//                     its first unit; bytes from the end of its whole units to their begin in its next row
// Pairs of elements of a share are at most what a repeat counts.
// Timing, worker issues: cross_entropy_cost.h.
// Source: docs/evidence.md#instruction-set.

#include "worker_share.inc"

#define table m0
#define rows m1         // behind this one
#define units m2
#define tail m3
#define x m4
#define x_skip m5
#define partials m6
#define pairs m7
#define from m8
#define index m10
#define spare m11
#define max a2
#define max_again a3
#define maxima a2:3
#define sum a4
#define other_sum a5
#define sums a4:5
#define powers a6:7

#if ELEMENT_BITS == 16
#define PARTS cross_entropy_parts_f16
#define MAX f16v4max
#elif ELEMENT_BITS == 32
#define PARTS cross_entropy_parts_f32
#define MAX f32v2max
#else
#error "ELEMENT_BITS: expected 16 or 32"
#endif

// a0:1 = the unit at `from`, with -infinity beside its elements.
.macro LAST_UNIT
        { ld32  $a6, $mvertex_base, $mzero, 2 ; fnop }
        { ld32  $a7, $mvertex_base, $mzero, 3 ; fnop }
        { ld64  $a0:1, $from, $mzero, 0 ; fnop }
        { ld32  $a6, $mvertex_base, $mzero, 4 ; and64 $a0:1, $a0:1, $a6:7 }
        { ld32  $a7, $mvertex_base, $mzero, 5 ; fnop }
        { nop   ; or64 $a0:1, $a0:1, $a6:7 }
.endm

        .section .text.PARTS, "ax"
        .worker
        .align 8
        .globl PARTS
PARTS:
        WORKER_INDEX $index
        mul     $table, $index, 4 * 5
        add     $table, $table, $mvertex_base
        ld32    $rows, $table, $mzero, 7
        brz     $rows, .Ldone
.Lsome_rows:
        ld32    $units, $table, $mzero, 8
        ld32    $tail, $table, $mzero, 9
        ld32    $x, $mvertex_base, $mzero, 0
        ld32    $spare, $table, $mzero, 10
        add     $x, $x, $spare
        ld32    $x_skip, $table, $mzero, 11
        ld32    $partials, $mvertex_base, $mzero, 1
        shl     $spare, $index, 3
        add     $partials, $partials, $spare
#if ELEMENT_BITS == 16
        shl     $pairs, $units, 1
#else
        mov     $pairs, $units
#endif
        { add   $rows, $rows, -1 ; fnop }
.Lrow:
#if ELEMENT_BITS == 16
        { mov   $from, $x ; or $a0, $azero, 0xfc000000 }
        { nop   ; sort4x16hi $a0, $a0, $a0 }
#else
        { mov   $from, $x ; or $a0, $azero, 0xff800000 }
#endif
        { nop   ; mov $a1, $a0 }
        { rpt   $units, 0 ; mov $maxima, $a0:1 }
.Lmax:
        { ld64step $a0:1, $mzero, $from+=, 1 ; MAX $maxima, $maxima, $a0:1 }
.Lend_max:
        { brz   $tail, .Lwhole_max ; MAX $maxima, $maxima, $a0:1 }
.Ltail_max:
        LAST_UNIT
        { nop   ; MAX $maxima, $maxima, $a0:1 }
.Lwhole_max:
#if ELEMENT_BITS == 16
        { ld32  $a0, $mvertex_base, $mzero, 6 ; f16v2max $max, $max, $max_again }
        { nop   ; f16v2tof32 $maxima, $max }
        { mov   $from, $x ; f32max $max, $max, $max_again }
#else
        { ld32  $a0, $mvertex_base, $mzero, 6 ; fnop }
        { mov   $from, $x ; f32max $max, $max, $max_again }
#endif
        { nop   ; f32max $max, $max, $a0 }
        { nop   ; mov $max_again, $max }
        { nop   ; zero $sums }
        { rpt   $pairs, (.Lend_pair - .Lpair) / 8 - 1 ; zero $powers }
.Lpair:
#if ELEMENT_BITS == 16
        { ld32step $a0, $mzero, $from+=, 1 ; f32v2add $sums, $sums, $powers }
        { nop   ; f16v2tof32 $a0:1, $a0 }
#else
        { ld64step $a0:1, $mzero, $from+=, 1 ; f32v2add $sums, $sums, $powers }
#endif
        { nop   ; f32v2sub $a0:1, $a0:1, $maxima }
        { nop   ; f32exp $a6, $a0 }
        { nop   ; f32exp $a7, $a1 }
.Lend_pair:
        { brz   $tail, .Lwhole_sum ; f32v2add $sums, $sums, $powers }
.Ltail_sum:
        LAST_UNIT
#if ELEMENT_BITS == 16
        { nop   ; f16v2tof32 $a6:7, $a1 }
        { nop   ; f32v2sub $a6:7, $a6:7, $maxima }
        { nop   ; f32exp $a6, $a6 }
        { nop   ; f32exp $a7, $a7 }
        { nop   ; f32v2add $sums, $sums, $powers }
        { nop   ; f16v2tof32 $a0:1, $a0 }
#endif
        { nop   ; f32v2sub $a0:1, $a0:1, $maxima }
        { nop   ; f32exp $a6, $a0 }
        { nop   ; f32exp $a7, $a1 }
        { nop   ; f32v2add $sums, $sums, $powers }
.Lwhole_sum:
        { add   $x, $from, $x_skip ; f32add $max_again, $sum, $other_sum }
        { st64step $maxima, $mzero, $partials+=, CTXT_WORKERS ; fnop }
        { brnzdec $rows, .Lrow ; fnop }
.Ldone:
        exitz   $mzero
