// SPDX-License-Identifier: MIT
// out = max(x, 0).
//
// Vertices relu_f16, relu_f32 (multi worker). State: elementwise.inc.
// Timing, worker issues of a unit: 2.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

.macro RELU_F16 MAIN:vararg
        { \MAIN ; f16v4max $a4:5, $a0:1, $azeros }
.endm
.macro RELU_F32 MAIN:vararg
        { \MAIN ; f32v2max $a4:5, $a0:1, $azeros }
.endm

MAP relu_f16 RELU_F16
MAP relu_f32 RELU_F32
