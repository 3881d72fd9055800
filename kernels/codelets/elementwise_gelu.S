// SPDX-License-Identifier: MIT
// out = 0.5 x (1 + tanh(a x + b x^3)), a = sqrt(2/pi), b = 0.044715 a.
//
// Vertices gelu_f16, gelu_f32 (multi worker). State: elementwise.inc, and
//     9, 10           gelu_f16: b and a, FP16; 1 and 0.5, FP16. gelu_f32: 2 b; 2 a
//   gelu_f16 rounds every step to FP16. gelu_f32 is x sigm(2 (a x + b x^3)), the same without a difference that cancels.
// Timing, worker issues of a unit: 10 (f16) and 17 (f32), of which 8 are waits for sigm.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

.macro CONSTANTS_9_AND_10
        { ld32  $a2, $mvertex_base, $mzero, 9 ; fnop }
        { ld32  $a3, $mvertex_base, $mzero, 10 ; fnop }
.endm

.macro GELU_F16 MAIN:vararg
        { nop   ; f16v4mul $a4:5, $a0:1, $a0:1 }
        { nop   ; f16v4mul $a4:5, $a2:BL, $a4:5 }
        { nop   ; f16v4add $a4:5, $a2:BU, $a4:5 }
        { nop   ; f16v4mul $a4:5, $a0:1, $a4:5 }
        { nop   ; f16v4mul $a6:7, $a3:BU, $a0:1 }
        { \MAIN ; f16v2tanh $a4, $a4 }
        { nop   ; f16v2tanh $a5, $a5 }
        { nop   ; f16v4add $a4:5, $a3:BL, $a4:5 }
        { nop   ; f16v4mul $a4:5, $a6:7, $a4:5 }
.endm

MAP gelu_f16 GELU_F16 CONSTANTS=CONSTANTS_9_AND_10

        START   gelu_f32, 2, CONSTANTS_9_AND_10
        { rpt   $rounds, (.Lend_unit_gelu_f32 - .Lunit_gelu_f32) / 8 - 1 ; fnop }
.Lunit_gelu_f32:
        { ld64step $a0:1, $mzero, $x+=, 1 ; fnop }
        { nop   ; f32v2mul $a4:5, $a0:1, $a0:1 }
        { nop   ; f32v2mul $a4:5, $a2:B, $a4:5 }
        { nop   ; f32v2add $a4:5, $a3:B, $a4:5 }
        { nop   ; f32v2mul $a4:5, $a0:1, $a4:5 }
        { nop   ; f32sigm $a4, $a4 }
        { nop   ; f32sigm $a5, $a5 }
        { nop   ; f32v2mul $a4:5, $a0:1, $a4:5 }
        { st64step $a4:5, $mzero, $out+=, 1 ; fnop }
.Lend_unit_gelu_f32:
        add     $x, $x, $x_skip
        END     gelu_f32, 2
