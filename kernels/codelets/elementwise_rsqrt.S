// SPDX-License-Identifier: MIT
// out = 1 / sqrt(x), and its gradient by its value y: -1/2 dy y^3.
//
// Vertices rsqrt_f16, rsqrt_f32 (multi worker). State: elementwise.inc.
//   FP16 elements are widened, and the value is rounded to FP16.
// Vertices rsqrt_gradient_f16, rsqrt_gradient_f32 (multi worker). State: elementwise.inc; side 0 is y, side 1 is dy; and
//     12 half         the number -1/2 of the type; FP16 in the lower half
//   Every step is rounded to the type. dy stands first in the product, since y^3 alone may be too large for FP16.
// Timing, worker issues of a unit: rsqrt 21 (f16) and 9, of which 12 and 6 are waits for the root; gradients 5.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

.macro RSQRT_F16 MAIN:vararg
        { nop   ; f16v2tof32 $a4:5, $a0 }
        { \MAIN ; f16v2tof32 $a2:3, $a1 }
        { nop   ; f32oorx $a4, $a4 }
        { nop   ; f32oorx $a5, $a5 }
        { nop   ; f32oorx $a2, $a2 }
        { nop   ; f32oorx $a3, $a3 }
        { nop   ; f32v2tof16 $a4, $a4:5 }
        { nop   ; f32v2tof16 $a5, $a2:3 }
.endm
.macro RSQRT_F32 MAIN:vararg
        { nop   ; f32oorx $a4, $a0 }
        { \MAIN ; f32oorx $a5, $a1 }
.endm

MAP rsqrt_f16 RSQRT_F16
MAP rsqrt_f32 RSQRT_F32

.macro HALF
        { ld32  $a6, $mvertex_base, $mzero, 12 ; fnop }
.endm
.macro HALF_OF_DY_F16 MAIN:vararg
        { \MAIN ; f16v4mul $a4:5, $a6:BL, $a2:3 }
.endm
.macro HALF_OF_DY_F32 MAIN:vararg
        { \MAIN ; f32v2mul $a4:5, $a6:B, $a2:3 }
.endm
.macro TIMES_CUBE_F16 MAIN:vararg
        { nop   ; f16v4mul $a4:5, $a0:1, $a4:5 }
        { nop   ; f16v4mul $a4:5, $a0:1, $a4:5 }
        { \MAIN ; f16v4mul $a4:5, $a0:1, $a4:5 }
.endm
.macro TIMES_CUBE_F32 MAIN:vararg
        { nop   ; f32v2mul $a4:5, $a0:1, $a4:5 }
        { nop   ; f32v2mul $a4:5, $a0:1, $a4:5 }
        { \MAIN ; f32v2mul $a4:5, $a0:1, $a4:5 }
.endm

MAP2_BY_Y rsqrt_gradient_f16 HALF_OF_DY_F16 TIMES_CUBE_F16 HALF
MAP2_BY_Y rsqrt_gradient_f32 HALF_OF_DY_F32 TIMES_CUBE_F32 HALF
