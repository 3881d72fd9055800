// SPDX-License-Identifier: MIT
// out = factor * x + y.
//
// Vertices scaled_add_f16, scaled_add_f32, scaled_add_f32_f16 (multi worker). State: elementwise.inc; and
//     12 factor       of the type of x; FP16 in the lower half
//   scaled_add_f16 and scaled_add_f32 round the product, then the sum, to the type. scaled_add_f32_f16 has x in FP32, y and out in
//   FP16: it computes in FP32, and a unit of y and of out is 4 bytes.
// Timing, worker issues of a unit: 3, and 6 (f32_f16).
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

.macro FACTOR
        { ld32  $a6, $mvertex_base, $mzero, 12 ; fnop }
.endm
.macro SCALE_F16 MAIN:vararg
        { \MAIN ; f16v4mul $a4:5, $a6:BL, $a0:1 }
.endm
.macro SCALE_F32 MAIN:vararg
        { \MAIN ; f32v2mul $a4:5, $a6:B, $a0:1 }
.endm
.macro ADD_F16 MAIN:vararg
        { \MAIN ; f16v4add $a4:5, $a4:5, $a2:3 }
.endm
.macro ADD_F32 MAIN:vararg
        { \MAIN ; f32v2add $a4:5, $a4:5, $a2:3 }
.endm

MAP2 scaled_add_f16 SCALE_F16 ADD_F16 FACTOR
MAP2 scaled_add_f32 SCALE_F32 ADD_F32 FACTOR

        START   scaled_add_f32_f16, 3, FACTOR
        rpt     $rounds, (.Lend_unit_scaled_add_f32_f16 - .Lunit_scaled_add_f32_f16) / 8 - 1
.Lunit_scaled_add_f32_f16:
        { ld64step $a0:1, $mzero, $x+=, 1 ; fnop }
        { ld32step $a2, $mzero, $y+=, 1 ; f32v2mul $a4:5, $a6:B, $a0:1 }
        { nop   ; f16v2tof32 $a2:3, $a2 }
        { nop   ; f32v2add $a4:5, $a4:5, $a2:3 }
        { nop   ; f32v2tof16 $a4, $a4:5 }
        { st32step $a4, $mzero, $out+=, 1 ; fnop }
.Lend_unit_scaled_add_f32_f16:
        add     $x, $x, $x_skip
        END     scaled_add_f32_f16, 3
