// SPDX-License-Identifier: MIT
// out = x * y, rounded once.
//
// Vertices multiply_f16, multiply_f32 (multi worker). State: elementwise.inc.
// Timing, worker issues of a unit: 3.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

.macro MULTIPLY_F16 MAIN:vararg
        { \MAIN ; f16v4mul $a4:5, $a0:1, $a2:3 }
.endm
.macro MULTIPLY_F32 MAIN:vararg
        { \MAIN ; f32v2mul $a4:5, $a0:1, $a2:3 }
.endm

MAP2 multiply_f16 MULTIPLY_F16
MAP2 multiply_f32 MULTIPLY_F32
