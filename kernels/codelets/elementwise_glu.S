// SPDX-License-Identifier: MIT
// out = x / (1 + exp(-y)): y is the gate.
//
// Vertices glu_f16, glu_f32 (multi worker). State: elementwise.inc; side 0 is x, side 1 is y.
//   Every step is rounded to the type.
// Timing, worker issues of a unit: 6 (f16) and 12, of which 2 and 8 are waits for the function.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

.macro SIGMOID_OF_Y_F16 MAIN:vararg
        { nop   ; f16v2sigm $a4, $a2 }
        { \MAIN ; f16v2sigm $a5, $a3 }
.endm
.macro SIGMOID_OF_Y_F32 MAIN:vararg
        { nop   ; f32sigm $a4, $a2 }
        { \MAIN ; f32sigm $a5, $a3 }
.endm
.macro TIMES_X_F16 MAIN:vararg
        { \MAIN ; f16v4mul $a4:5, $a0:1, $a4:5 }
.endm
.macro TIMES_X_F32 MAIN:vararg
        { \MAIN ; f32v2mul $a4:5, $a0:1, $a4:5 }
.endm

MAP2_BY_Y glu_f16 SIGMOID_OF_Y_F16 TIMES_X_F16
MAP2_BY_Y glu_f32 SIGMOID_OF_Y_F32 TIMES_X_F32
