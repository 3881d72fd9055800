// SPDX-License-Identifier: MIT
// out = factor * x, rounded once.
//
// Vertices scale_f16, scale_f32 (multi worker). State: elementwise.inc, and
//     9 factor        of the type of x; FP16 in the lower half
// Timing, worker issues of a unit: 2.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

.macro FACTOR
        { ld32  $a6, $mvertex_base, $mzero, 9 ; fnop }
.endm
.macro SCALE_F16 MAIN:vararg
        { \MAIN ; f16v4mul $a4:5, $a6:BL, $a0:1 }
.endm
.macro SCALE_F32 MAIN:vararg
        { \MAIN ; f32v2mul $a4:5, $a6:B, $a0:1 }
.endm

MAP scale_f16 SCALE_F16 CONSTANTS=FACTOR
MAP scale_f32 SCALE_F32 CONSTANTS=FACTOR
