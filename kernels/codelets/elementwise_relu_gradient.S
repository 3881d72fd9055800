// SPDX-License-Identifier: MIT
// dx = dy where y = max(x, 0) is positive, else 0. The bits of dy are kept.
//
// Vertices relu_gradient_f16, relu_gradient_f32 (multi worker). State: elementwise.inc; side 0 is y, side 1 is dy.
// Timing, worker issues of a unit: 3.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

.macro IS_POSITIVE_F16 MAIN:vararg
        { \MAIN ; f16v4cmpgt $a4:5, $a0:1, $azeros }
.endm
.macro IS_POSITIVE_F32 MAIN:vararg
        { \MAIN ; f32v2cmpgt $a4:5, $a0:1, $azeros }
.endm
.macro KEEP MAIN:vararg
        { \MAIN ; and64 $a4:5, $a4:5, $a2:3 }
.endm

MAP2 relu_gradient_f16 IS_POSITIVE_F16 KEEP
MAP2 relu_gradient_f32 IS_POSITIVE_F32 KEEP
