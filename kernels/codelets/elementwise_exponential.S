// SPDX-License-Identifier: MIT
// out = exp(x), out = log(x), the natural one, and out = sqrt(x). Roots of FP16 are made in FP32 and rounded once.
//
// Vertices exp_f16, exp_f32, log_f16, log_f32, sqrt_f16, sqrt_f32 (multi worker). State: elementwise.inc.
// Timing, worker issues of a unit: exp 5 (f16) and 7, log 5 (f16) and 13, sqrt 25 (f16) and 11, of which 2, 4, 2, 10, 16
//   and 8 are waits for the function.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

.macro EXP_F16 MAIN:vararg
        { nop   ; f16v2exp $a4, $a0 }
        { \MAIN ; f16v2exp $a5, $a1 }
.endm
.macro EXP_F32 MAIN:vararg
        { nop   ; f32exp $a4, $a0 }
        { \MAIN ; f32exp $a5, $a1 }
.endm
.macro LOG_F16 MAIN:vararg
        { nop   ; f16v2ln $a4, $a0 }
        { \MAIN ; f16v2ln $a5, $a1 }
.endm
.macro LOG_F32 MAIN:vararg
        { nop   ; f32ln $a4, $a0 }
        { \MAIN ; f32ln $a5, $a1 }
.endm
.macro SQRT_F16 MAIN:vararg
        { nop   ; f16v2tof32 $a4:5, $a0 }
        { nop   ; f16v2tof32 $a6:7, $a1 }
        { nop   ; f32sqrt $a4, $a4 }
        { nop   ; f32sqrt $a5, $a5 }
        { nop   ; f32sqrt $a6, $a6 }
        { \MAIN ; f32sqrt $a7, $a7 }
        { nop   ; f32v2tof16 $a4, $a4:5 }
        { nop   ; f32v2tof16 $a5, $a6:7 }
.endm
.macro SQRT_F32 MAIN:vararg
        { nop   ; f32sqrt $a4, $a0 }
        { \MAIN ; f32sqrt $a5, $a1 }
.endm

MAP exp_f16 EXP_F16
MAP exp_f32 EXP_F32
MAP log_f16 LOG_F16
MAP log_f32 LOG_F32
MAP sqrt_f16 SQRT_F16
MAP sqrt_f32 SQRT_F32
