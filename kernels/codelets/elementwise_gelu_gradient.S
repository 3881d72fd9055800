// SPDX-License-Identifier: MIT
// dx = dy (s + x v' s (1 - s)), dy times the derivative of gelu(x) = x s, where s = sigm(v), v = x (2 b q + 2 a), v' = 6 b q + 2 a,
// q = x x, a = sqrt(2/pi), b = 0.044715 a.
//
// Vertices gelu_gradient_f16, gelu_gradient_f32 (multi worker). State: elementwise.inc; side 0 is x, side 1 is dy; and
//     12, 13          gelu_gradient_f16: 2 b and 2 a, FP16; 6 b and 1, FP16
//     12 ... 16       gelu_gradient_f32: 2 b; 2 a; 6 b; 1; the most that q is taken as, so that no product is infinite
//   Every step is rounded to the type. Constants are loaded in each round, beside arithmetic: there are eight registers.
// Timing, worker issues of a unit: 18 (f16) and 25 (f32), of which 2 and 8 are waits for sigm.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

        START   gelu_gradient_f16, 3
        rpt     $rounds, (.Lend_unit_gelu_gradient_f16 - .Lunit_gelu_gradient_f16) / 8 - 1
.Lunit_gelu_gradient_f16:
        { ld64step $a0:1, $mzero, $x+=, 1 ; fnop }
        { ld32  $a2, $mvertex_base, $mzero, 12 ; f16v4mul $a4:5, $a0:1, $a0:1 }
        { ld32  $a3, $mvertex_base, $mzero, 13 ; f16v4mul $a6:7, $a2:BL, $a4:5 }
        { nop   ; f16v4add $a6:7, $a2:BU, $a6:7 }
        { nop   ; f16v4mul $a6:7, $a0:1, $a6:7 }
        { nop   ; f16v4mul $a4:5, $a3:BL, $a4:5 }
        { nop   ; f16v4add $a4:5, $a2:BU, $a4:5 }
        { nop   ; f16v2sigm $a6, $a6 }
        { nop   ; f16v2sigm $a7, $a7 }
        { nop   ; f16v4sub $a2:3, $a3:BU, $a6:7 }
        { nop   ; f16v4mul $a2:3, $a6:7, $a2:3 }
        { nop   ; f16v4mul $a2:3, $a4:5, $a2:3 }
        { nop   ; f16v4mul $a4:5, $a0:1, $a2:3 }
        { ld64step $a2:3, $mzero, $y+=, 1 ; f16v4add $a4:5, $a4:5, $a6:7 }
        { nop   ; f16v4mul $a4:5, $a2:3, $a4:5 }
        STORE_UNIT
.Lend_unit_gelu_gradient_f16:
        add     $x, $x, $x_skip
        END     gelu_gradient_f16, 3

        START   gelu_gradient_f32, 3
        rpt     $rounds, (.Lend_unit_gelu_gradient_f32 - .Lunit_gelu_gradient_f32) / 8 - 1
.Lunit_gelu_gradient_f32:
        { ld64step $a0:1, $mzero, $x+=, 1 ; fnop }
        { ld32  $a2, $mvertex_base, $mzero, 16 ; f32v2mul $a4:5, $a0:1, $a0:1 }
        { ld32  $a3, $mvertex_base, $mzero, 12 ; f32v2min $a4:5, $a2:B, $a4:5 }
        { ld32  $a2, $mvertex_base, $mzero, 13 ; f32v2mul $a6:7, $a3:B, $a4:5 }
        { ld32  $a3, $mvertex_base, $mzero, 14 ; f32v2add $a6:7, $a2:B, $a6:7 }
        { nop   ; f32v2mul $a6:7, $a0:1, $a6:7 }
        { nop   ; f32v2mul $a4:5, $a3:B, $a4:5 }
        { ld32  $a3, $mvertex_base, $mzero, 15 ; f32v2add $a4:5, $a2:B, $a4:5 }
        { nop   ; f32sigm $a6, $a6 }
        { nop   ; f32sigm $a7, $a7 }
        { nop   ; f32v2sub $a2:3, $a3:B, $a6:7 }
        { nop   ; f32v2mul $a2:3, $a6:7, $a2:3 }
        { nop   ; f32v2mul $a2:3, $a4:5, $a2:3 }
        { nop   ; f32v2mul $a4:5, $a0:1, $a2:3 }
        { ld64step $a2:3, $mzero, $y+=, 1 ; f32v2add $a4:5, $a4:5, $a6:7 }
        { nop   ; f32v2mul $a4:5, $a2:3, $a4:5 }
        STORE_UNIT
.Lend_unit_gelu_gradient_f32:
        add     $x, $x, $x_skip
        END     gelu_gradient_f32, 3
