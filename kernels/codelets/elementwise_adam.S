// SPDX-License-Identifier: MIT
// Moments of gradients, and weights that go against them: the optimisers Adam and LAMB. Moments are FP32.
//
//     q = beta q + (1 - beta), for both betas; from 0 on, so that q = 1 - beta^t in round t
//     m = beta1 m + (1 - beta1) g,   v = beta2 v + (1 - beta2) g^2
//     w = keep w - rate / q1 m / (sqrt(v / q2) + epsilon)
//
// Vertex adam_corrections (worker). State, words:
//     0 q             both, 8-byte aligned, updated
//     1 scalars       8-byte aligned: 1 / q1, 1 / q2, rate / q1, keep are written there
//     2, 3            the betas
//     4, 5            1 - beta of each
//     6 rate, 7 keep
// Vertices adam_moments_f16, adam_moments_f32 (multi worker). State: elementwise.inc; side 0 is m, side 1 is v, side 2 is g, of the
//   type in the name; and
//     12, 13          beta1, 1 - beta1
//     14, 15          beta2, 1 - beta2
// Vertices adam_apply_f16, adam_apply_f32 (multi worker). State: elementwise.inc; side 0 is m, side 1 is v, side 2 is w, of the type
//   in the name; and
//     12 scalars, 13 epsilon
//   A unit of FP16 is 4 bytes; all is computed in FP32.
// Timing, worker issues: corrections 18, of which 4 are waits; of a unit, moments 10 (f16) and 9, apply 25 (f16) and 23, of which 12
//   are waits for roots and quotients.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

#define scalars m3      // the index is needed no longer
#define third out
#define third_skip out_skip

        .section .text.adam_corrections, "ax"
        .worker
        .align 8
        .globl adam_corrections
adam_corrections:
        ld32    $m0, $mvertex_base, $mzero, 0
        ld32    $m1, $mvertex_base, $mzero, 1
        ld64    $a0:1, $m0, $mzero, 0
        ld32    $a2, $mvertex_base, $mzero, 2
        ld32    $a3, $mvertex_base, $mzero, 3
        { ld32  $a4, $mvertex_base, $mzero, 4 ; f32v2mul $a0:1, $a0:1, $a2:3 }
        ld32    $a5, $mvertex_base, $mzero, 5
        { ld32  $a6, $mvertex_base, $mzero, 6 ; f32v2add $a0:1, $a0:1, $a4:5 }
        { ld32  $a7, $mvertex_base, $mzero, 7 ; f32oox $a2, $a0 }
        { st64  $a0:1, $m0, $mzero, 0 ; f32oox $a3, $a1 }
        { nop   ; f32mul $a6, $a6, $a2 }
        st64    $a2:3, $m1, $mzero, 0
        st64    $a6:7, $m1, $mzero, 1
        exitz   $mzero

.macro LESS_BETA1
        { ld32  $a6, $mvertex_base, $mzero, 13 ; fnop }
.endm

.macro MOMENTS NAME
        { ld64  $a4:5, $x, $mzero, 0 ; f32v2mul $a2:3, $a0:1, $a0:1 }
        { ld32  $a7, $mvertex_base, $mzero, 12 ; f32v2mul $a0:1, $a6:B, $a0:1 }
        { ld32  $a7, $mvertex_base, $mzero, 15 ; f32v2mul $a4:5, $a7:B, $a4:5 }
        { ld64  $a0:1, $y, $mzero, 0 ; f32v2add $a4:5, $a4:5, $a0:1 }
        { ld32  $a7, $mvertex_base, $mzero, 14 ; f32v2mul $a2:3, $a7:B, $a2:3 }
        { st64step $a4:5, $mzero, $x+=, 1 ; f32v2mul $a0:1, $a7:B, $a0:1 }
        { nop   ; f32v2add $a0:1, $a0:1, $a2:3 }
        { st64step $a0:1, $mzero, $y+=, 1 ; fnop }
.Lend_unit_\NAME:
        add     $x, $x, $x_skip
        END     \NAME, 3
.endm

        START   adam_moments_f16, 3, LESS_BETA1
        rpt     $rounds, (.Lend_unit_adam_moments_f16 - .Lunit_adam_moments_f16) / 8 - 1
.Lunit_adam_moments_f16:
        { ld32step $a0, $mzero, $third+=, 1 ; fnop }
        { nop   ; f16v2tof32 $a0:1, $a0 }
        MOMENTS adam_moments_f16

        START   adam_moments_f32, 3, LESS_BETA1
        rpt     $rounds, (.Lend_unit_adam_moments_f32 - .Lunit_adam_moments_f32) / 8 - 1
.Lunit_adam_moments_f32:
        { ld64step $a0:1, $mzero, $third+=, 1 ; fnop }
        MOMENTS adam_moments_f32

.macro SCALARS
        { ld32  $scalars, $mvertex_base, $mzero, 12 ; fnop }
        { ld32  $a6, $mvertex_base, $mzero, 13 ; fnop }
        { ld32  $a7, $scalars, $mzero, 1 ; fnop }
.endm

// Both roots and quotients; LOAD brings w to $a2:3, or its half words to $a2.
.macro APPLY LOAD:vararg
        { ld64step $a0:1, $mzero, $y+=, 1 ; fnop }
        { ld32  $a2, $scalars, $mzero, 2 ; f32v2mul $a0:1, $a7:B, $a0:1 }
        { ld64step $a4:5, $mzero, $x+=, 1 ; f32sqrt $a0, $a0 }
        { nop   ; f32sqrt $a1, $a1 }
        { nop   ; f32v2mul $a4:5, $a2:B, $a4:5 }
        { nop   ; f32v2add $a0:1, $a6:B, $a0:1 }
        { \LOAD ; f32div $a4, $a4, $a0 }
        { ld32  $a0, $scalars, $mzero, 3 ; f32div $a5, $a5, $a1 }
.endm
.macro GO_ON NAME
.Lend_unit_\NAME:
        add     $x, $x, $x_skip
        END     \NAME, 3
.endm

        START   adam_apply_f16, 3, SCALARS
        rpt     $rounds, (.Lend_unit_adam_apply_f16 - .Lunit_adam_apply_f16) / 8 - 1
.Lunit_adam_apply_f16:
        APPLY   ld32 $a2, $third, $mzero, 0
        { nop   ; f16v2tof32 $a2:3, $a2 }
        { nop   ; f32v2mul $a2:3, $a0:B, $a2:3 }
        { nop   ; f32v2sub $a2:3, $a2:3, $a4:5 }
        { nop   ; f32v2tof16 $a2, $a2:3 }
        { st32step $a2, $mzero, $third+=, 1 ; fnop }
        GO_ON   adam_apply_f16

        START   adam_apply_f32, 3, SCALARS
        rpt     $rounds, (.Lend_unit_adam_apply_f32 - .Lunit_adam_apply_f32) / 8 - 1
.Lunit_adam_apply_f32:
        APPLY   ld64 $a2:3, $third, $mzero, 0
        { nop   ; f32v2mul $a2:3, $a0:B, $a2:3 }
        { nop   ; f32v2sub $a2:3, $a2:3, $a4:5 }
        { st64step $a2:3, $mzero, $third+=, 1 ; fnop }
        GO_ON   adam_apply_f32
