// SPDX-License-Identifier: MIT
// out = x / y, rounded once: quotients of FP16 are made in FP32, which has more than twice as many digits.
//
// Vertices divide_f16, divide_f32 (multi worker). State: elementwise.inc.
// Timing, worker issues of a unit: 20 (f16) and 8 (f32), of which 8 and 4 are waits for the quotients.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

.macro DIVIDE_F32 MAIN:vararg
        { nop   ; f32div $a4, $a0, $a2 }
        { \MAIN ; f32div $a5, $a1, $a3 }
.endm

MAP2 divide_f32 DIVIDE_F32

        START   divide_f16, 3
        rpt     $rounds, (.Lend_unit_divide_f16 - .Lunit_divide_f16) / 8 - 1
.Lunit_divide_f16:
        { ld64step $a0:1, $mzero, $x+=, 1 ; fnop }
        { ld64step $a2:3, $mzero, $y+=, 1 ; f16v2tof32 $a4:5, $a0 }
        { nop   ; f16v2tof32 $a6:7, $a2 }
        { nop   ; f32div $a4, $a4, $a6 }
        { nop   ; f32div $a5, $a5, $a7 }
        { nop   ; f32v2tof16 $a4, $a4:5 }
        { nop   ; f16v2tof32 $a6:7, $a3 }
        { nop   ; f16v2tof32 $a2:3, $a1 }
        { nop   ; f32div $a2, $a2, $a6 }
        { nop   ; f32div $a3, $a3, $a7 }
        { nop   ; f32v2tof16 $a5, $a2:3 }
        STORE_UNIT
.Lend_unit_divide_f16:
        add     $x, $x, $x_skip
        END     divide_f16, 3
