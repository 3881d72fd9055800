// SPDX-License-Identifier: MIT
// out = tanh(x), out = s = 1 / (1 + exp(-x)), out = x s (swish), and their gradients: dy (1 - y^2), dy y (1 - y),
// dy s (1 + x (1 - s)).
//
// Vertices tanh_f16, tanh_f32, sigmoid_f16, sigmoid_f32, swish_f16, swish_f32 (multi worker). State: elementwise.inc.
// Vertices tanh_gradient_f16, tanh_gradient_f32, sigmoid_gradient_f16, sigmoid_gradient_f32 (multi worker). State: elementwise.inc;
//   side 0 is y, side 1 is dy; and
//     12 one          the number 1 of the type; FP16 in the lower half
// Vertices swish_gradient_f16, swish_gradient_f32 (multi worker). The same, but side 0 is x.
//   Every step is rounded to the type.
// Timing, worker issues of a unit: tanh 3 (f16) and 11, sigmoid 5 (f16) and 11, of which 2 (sigmoid_f16) and 8 are waits for the
//   function; swish one more than sigmoid; gradients 4, of swish 11 (f16) and 17, with as many waits.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

.macro TANH_F16 MAIN:vararg
        { nop   ; f16v2tanh $a4, $a0 }
        { \MAIN ; f16v2tanh $a5, $a1 }
.endm
.macro TANH_F32 MAIN:vararg
        { nop   ; f32tanh $a4, $a0 }
        { \MAIN ; f32tanh $a5, $a1 }
.endm
.macro SIGMOID_F16 MAIN:vararg
        { nop   ; f16v2sigm $a4, $a0 }
        { \MAIN ; f16v2sigm $a5, $a1 }
.endm
.macro SIGMOID_F32 MAIN:vararg
        { nop   ; f32sigm $a4, $a0 }
        { \MAIN ; f32sigm $a5, $a1 }
.endm

.macro SWISH_F16 MAIN:vararg
        SIGMOID_F16 nop
        { \MAIN ; f16v4mul $a4:5, $a0:1, $a4:5 }
.endm
.macro SWISH_F32 MAIN:vararg
        SIGMOID_F32 nop
        { \MAIN ; f32v2mul $a4:5, $a0:1, $a4:5 }
.endm

MAP swish_f16 SWISH_F16
MAP swish_f32 SWISH_F32
MAP tanh_f16 TANH_F16
MAP tanh_f32 TANH_F32
MAP sigmoid_f16 SIGMOID_F16
MAP sigmoid_f32 SIGMOID_F32

.macro ONE
        { ld32  $a6, $mvertex_base, $mzero, 12 ; fnop }
.endm
.macro LESS_SQUARE_F16 MAIN:vararg
        { nop   ; f16v4mul $a4:5, $a0:1, $a0:1 }
        { \MAIN ; f16v4sub $a4:5, $a6:BL, $a4:5 }
.endm
.macro LESS_SQUARE_F32 MAIN:vararg
        { nop   ; f32v2mul $a4:5, $a0:1, $a0:1 }
        { \MAIN ; f32v2sub $a4:5, $a6:B, $a4:5 }
.endm
.macro TIMES_REST_F16 MAIN:vararg
        { nop   ; f16v4sub $a4:5, $a6:BL, $a0:1 }
        { \MAIN ; f16v4mul $a4:5, $a0:1, $a4:5 }
.endm
.macro TIMES_REST_F32 MAIN:vararg
        { nop   ; f32v2sub $a4:5, $a6:B, $a0:1 }
        { \MAIN ; f32v2mul $a4:5, $a0:1, $a4:5 }
.endm
.macro TIMES_DY_F16 MAIN:vararg
        { \MAIN ; f16v4mul $a4:5, $a2:3, $a4:5 }
.endm
.macro TIMES_DY_F32 MAIN:vararg
        { \MAIN ; f32v2mul $a4:5, $a2:3, $a4:5 }
.endm

MAP2 tanh_gradient_f16 LESS_SQUARE_F16 TIMES_DY_F16 ONE
MAP2 tanh_gradient_f32 LESS_SQUARE_F32 TIMES_DY_F32 ONE
MAP2 sigmoid_gradient_f16 TIMES_REST_F16 TIMES_DY_F16 ONE
MAP2 sigmoid_gradient_f32 TIMES_REST_F32 TIMES_DY_F32 ONE

// SIGM, SUB, MUL and ADD are the instructions of the type; HOW says how one operand stands for all elements.
.macro SWISH_GRADIENT NAME SIGM SUB MUL ADD HOW
        START   \NAME, 3
        rpt     $rounds, (.Lend_unit_\NAME - .Lunit_\NAME) / 8 - 1
.Lunit_\NAME:
        { ld64step $a0:1, $mzero, $x+=, 1 ; fnop }
        { ld32  $a2, $mvertex_base, $mzero, 12 ; \SIGM $a4, $a0 }
        { nop   ; \SIGM $a5, $a1 }
        { nop   ; \SUB $a6:7, $a2:\HOW, $a4:5 }
        { nop   ; \MUL $a6:7, $a0:1, $a6:7 }
        { nop   ; \ADD $a6:7, $a2:\HOW, $a6:7 }
        { ld64step $a2:3, $mzero, $y+=, 1 ; \MUL $a4:5, $a4:5, $a6:7 }
        { nop   ; \MUL $a4:5, $a2:3, $a4:5 }
        STORE_UNIT
.Lend_unit_\NAME:
        add     $x, $x, $x_skip
        END     \NAME, 3
.endm

SWISH_GRADIENT swish_gradient_f16 f16v2sigm f16v4sub f16v4mul f16v4add BL
SWISH_GRADIENT swish_gradient_f32 f32sigm f32v2sub f32v2mul f32v2add B
