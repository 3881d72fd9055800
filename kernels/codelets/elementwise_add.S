// SPDX-License-Identifier: MIT
// out = x + y, rounded once. With no bytes from row to row of y, it is added to every row.
//
// Vertices add_f16, add_f32 (multi worker). State: elementwise.inc.
// Timing, worker issues of a unit: 3.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

.macro ADD_F16 MAIN:vararg
        { \MAIN ; f16v4add $a4:5, $a0:1, $a2:3 }
.endm
.macro ADD_F32 MAIN:vararg
        { \MAIN ; f32v2add $a4:5, $a0:1, $a2:3 }
.endm

MAP2 add_f16 ADD_F16
MAP2 add_f32 ADD_F32
