// SPDX-License-Identifier: MIT
// out = factor * x, for a factor that is the product of a number and of one that other vertices have made.
//
// Vertices scale_by_f16, scale_by_f32 (multi worker). State: elementwise.inc, and
//     9 by            pointer to an FP32 number
//     10 times        FP32: factor = by * times, rounded
//   The product is rounded to FP32, then to the type of x and out.
// Timing, worker issues of a unit: 7 (f16) and 2.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

.macro FACTOR
        { ld32  $spare, $mvertex_base, $mzero, 9 ; fnop }
        { ld32  $a6, $spare, $mzero, 0 ; fnop }
        { ld32  $a7, $mvertex_base, $mzero, 10 ; fnop }
        { nop   ; f32mul $a6, $a6, $a7 }
.endm
.macro SCALE_F16 MAIN:vararg
        { nop   ; f16v2tof32 $a4:5, $a0 }
        { nop   ; f16v2tof32 $a2:3, $a1 }
        { nop   ; f32v2mul $a4:5, $a6:B, $a4:5 }
        { nop   ; f32v2mul $a2:3, $a6:B, $a2:3 }
        { nop   ; f32v2tof16 $a4, $a4:5 }
        { \MAIN ; f32v2tof16 $a5, $a2:3 }
.endm
.macro SCALE_F32 MAIN:vararg
        { \MAIN ; f32v2mul $a4:5, $a6:B, $a0:1 }
.endm

MAP scale_by_f16 SCALE_F16 CONSTANTS=FACTOR
MAP scale_by_f32 SCALE_F32 CONSTANTS=FACTOR
