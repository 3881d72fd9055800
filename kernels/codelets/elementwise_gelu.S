// SPDX-License-Identifier: MIT
// out = 0.5 x (1 + tanh(u)), u = sqrt(2/pi) (x + 0.044715 x^3), which is x sigm(2 u); in FP32, for FP16 too.
//
// Vertices gelu_f16, gelu_f32 (multi worker). State: elementwise.inc, and
//     9, 10           2 sqrt(2/pi) * 0.044715 and 2 sqrt(2/pi), FP32
// Timing, worker issues of a unit: 36 (f16) and 18 (f32), of which 16 and 8 are waits for sigm.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

.macro CUBIC_AND_LINEAR
        { ld32  $a2, $mvertex_base, $mzero, 9 ; fnop }
        { ld32  $a3, $mvertex_base, $mzero, 10 ; fnop }
.endm

// Two elements of X to $a4:5; changes $a6:7.
.macro GELU X
        { nop ; f32v2mul $a6:7, \X, \X }
        { nop ; f32v2mul $a6:7, $a2:B, $a6:7 }
        { nop ; f32v2add $a6:7, $a3:B, $a6:7 }
        { nop ; f32v2mul $a6:7, \X, $a6:7 }
        { nop ; f32sigm $a6, $a6 }
        { nop ; f32sigm $a7, $a7 }
        { nop ; f32v2mul $a4:5, \X, $a6:7 }
.endm

        START   gelu_f16, 2, CUBIC_AND_LINEAR
        { rpt   $rounds, (.Lend_unit_gelu_f16 - .Lunit_gelu_f16) / 8 - 1 ; fnop }
.Lunit_gelu_f16:
        { ld64step $a0:1, $mzero, $x+=, 1 ; fnop }
        { nop ; f16v2tof32 $a4:5, $a0 }
        GELU    $a4:5
        { nop ; f32v2tof16 $a0, $a4:5 }
        { nop ; f16v2tof32 $a4:5, $a1 }
        GELU    $a4:5
        { nop ; f32v2tof16 $a1, $a4:5 }
        { st64step $a0:1, $mzero, $out+=, 1 ; fnop }
.Lend_unit_gelu_f16:
        add     $x, $x, $x_skip
        END     gelu_f16, 2

        START   gelu_f32, 2, CUBIC_AND_LINEAR
        { rpt   $rounds, (.Lend_unit_gelu_f32 - .Lunit_gelu_f32) / 8 - 1 ; fnop }
.Lunit_gelu_f32:
        { ld64step $a0:1, $mzero, $x+=, 1 ; fnop }
        GELU    $a0:1
        { st64step $a4:5, $mzero, $out+=, 1 ; fnop }
.Lend_unit_gelu_f32:
        add     $x, $x, $x_skip
        END     gelu_f32, 2
