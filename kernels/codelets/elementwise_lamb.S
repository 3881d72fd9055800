// SPDX-License-Identifier: MIT
// The norms by which the optimiser LAMB scales its rate: of weights, and of the direction
//
//     r = m / q1 / (sqrt(v / q2) + epsilon) + decay w          as elementwise_adam.S has m, v and q
//
// Vertices lamb_norms_f16, lamb_norms_f32 (multi worker). State: elementwise.inc; side 0 is m, side 1 is v, side 2 is w, of the type in
// the name, and none of them is written; and
//     12 scalars      of elementwise_adam.S
//     13 epsilon, 14 decay
//     15 sums         pair w: the squares of w, and of r, that worker w has; 8-byte aligned
//   A unit of FP16 is 4 bytes; all is computed in FP32. Beside elements units have zeros.
// Vertex lamb_scalars (worker). State, words:
//     0 sums          both, 8-byte aligned
//     1 scalars       8-byte aligned: of 1 / q1 at the begin, rate / q1 and keep are made anew, for a rate that is multiplied by the quotient
//                     of the roots of both sums, or by 1 if one of them is 0
//     2 rate, 3 rate * decay, 4 the number 1
// Timing, worker issues: norms of a unit 25 (f16) and 24, of which 12 are waits for roots and quotients; lamb_scalars 26, of which 6 are.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"
#include "pair_sums.inc"

#define scalars m3      // the index is needed no longer

.macro SCALARS
        { ld32  $scalars, $mvertex_base, $mzero, 12 ; fnop }
.endm
// w^2 are in accumulators 0 and 2, r^2 in 4 and 6
.macro SUMS
        f32v2gina $a0:1, $azeros, 0
        f32v2gina $a2:3, $azeros, 0
        f32add  $a0, $a0, $a1
        f32add  $a1, $a2, $a3
.endm
.macro LEAVE_NORMS
        LEAVE_PAIR 15
.endm

// LOAD brings w to $a4:5, or its half words to $a4, which the macro WIDEN goes on with.
.macro NORMS NAME WIDEN LOAD:vararg
        START   \NAME, 3, SCALARS, CLEAR
        rpt     $rounds, (.Lend_unit_\NAME - .Lunit_\NAME) / 8 - 1
.Lunit_\NAME:
        { ld64step $a0:1, $mzero, $y+=, 1 ; fnop }
        { ld32  $a2, $scalars, $mzero, 1 ; fnop }
        { ld64step $a6:7, $mzero, $x+=, 1 ; f32v2mul $a0:1, $a2:B, $a0:1 }
        { ld32  $a2, $scalars, $mzero, 0 ; f32sqrt $a0, $a0 }
        { ld32  $a3, $mvertex_base, $mzero, 13 ; f32sqrt $a1, $a1 }
        { \LOAD ; f32v2mul $a6:7, $a2:B, $a6:7 }
        { ld32  $a2, $mvertex_base, $mzero, 14 ; f32v2add $a0:1, $a3:B, $a0:1 }
        \WIDEN
        { nop   ; f32div $a6, $a6, $a0 }
        { nop   ; f32div $a7, $a7, $a1 }
        { nop   ; f32v2mul $a0:1, $a2:B, $a4:5 }
        { nop   ; f32v2add $a6:7, $a6:7, $a0:1 }
        { nop   ; f32v4sqacc $a4:7 }
.Lend_unit_\NAME:
        add     $x, $x, $x_skip
        add     $y, $y, $y_skip
        NEXT    \NAME, LEAVE_NORMS
.endm
.macro WIDEN_WEIGHTS
        { nop   ; f16v2tof32 $a4:5, $a4 }
.endm

NORMS lamb_norms_f16 WIDEN_WEIGHTS ld32step $a4, $mzero, $out+=, 1
NORMS lamb_norms_f32 NO_CONSTANTS ld64step $a4:5, $mzero, $out+=, 1

        .section .text.lamb_scalars, "ax"
        .worker
        .align 8
        .globl lamb_scalars
lamb_scalars:
        ld32    $m0, $mvertex_base, $mzero, 0
        ld32    $m1, $mvertex_base, $mzero, 1
        ld64    $a0:1, $m0, $mzero, 0
        { ld32  $a4, $mvertex_base, $mzero, 4 ; f32v2cmpeq $a2:3, $a0:1, $azeros }
        { ld32  $a5, $mvertex_base, $mzero, 2 ; or $a2, $a2, $a3 }
        { ld32  $a6, $m1, $mzero, 0 ; and $a3, $a2, $a4 }
        { ld32  $a7, $mvertex_base, $mzero, 3 ; andc $a0, $a0, $a2 }
        andc    $a1, $a1, $a2
        or      $a0, $a0, $a3
        or      $a1, $a1, $a3
        f32div  $a0, $a0, $a1
        f32sqrt $a0, $a0
        f32mul  $a5, $a5, $a0
        f32mul  $a6, $a6, $a5
        f32mul  $a7, $a7, $a0
        f32sub  $a7, $a4, $a7
        st64    $a6:7, $m1, $mzero, 1
        exitz   $mzero
