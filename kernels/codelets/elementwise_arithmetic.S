// SPDX-License-Identifier: MIT
// out = x - y, the larger of x and y, or the smaller one; rounded once.
//
// Vertices subtract_f16, subtract_f32, maximum_f16, maximum_f32, minimum_f16, minimum_f32 (multi worker).
// State: elementwise.inc.
// Timing, worker issues of a unit: 3.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

.macro SUBTRACT_F16 MAIN:vararg
        { \MAIN ; f16v4sub $a4:5, $a0:1, $a2:3 }
.endm
.macro SUBTRACT_F32 MAIN:vararg
        { \MAIN ; f32v2sub $a4:5, $a0:1, $a2:3 }
.endm
.macro MAXIMUM_F16 MAIN:vararg
        { \MAIN ; f16v4max $a4:5, $a0:1, $a2:3 }
.endm
.macro MAXIMUM_F32 MAIN:vararg
        { \MAIN ; f32v2max $a4:5, $a0:1, $a2:3 }
.endm
.macro MINIMUM_F16 MAIN:vararg
        { \MAIN ; f16v4min $a4:5, $a0:1, $a2:3 }
.endm
.macro MINIMUM_F32 MAIN:vararg
        { \MAIN ; f32v2min $a4:5, $a0:1, $a2:3 }
.endm

MAP2 subtract_f16 SUBTRACT_F16
MAP2 subtract_f32 SUBTRACT_F32
MAP2 maximum_f16 MAXIMUM_F16
MAP2 maximum_f32 MAXIMUM_F32
MAP2 minimum_f16 MINIMUM_F16
MAP2 minimum_f32 MINIMUM_F32
