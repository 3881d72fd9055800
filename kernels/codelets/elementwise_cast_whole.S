// SPDX-License-Identifier: MIT
// out = x, whole numbers of 32 bits in FP32 or the other way, without a fraction, or the same bits.
//
// Vertices cast_i32_f32, cast_u32_f32, cast_f32_i32, cast_f32_u32, cast_words (multi worker). State: elementwise.inc.
// Timing, worker issues of a unit: 3, 3, 5, 5, 2.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

.macro FROM_I32 MAIN:vararg
        { nop   ; f32fromi32 $a4, $a0 }
        { \MAIN ; f32fromi32 $a5, $a1 }
.endm
.macro TO_I32 MAIN:vararg
        { nop   ; f32int $a4, $a0, 3 }
        { \MAIN ; f32int $a5, $a1, 3 }
        { nop   ; f32toi32 $a4, $a4 }
        { nop   ; f32toi32 $a5, $a5 }
.endm
.macro FROM_U32 MAIN:vararg
        { nop   ; f32fromui32 $a4, $a0 }
        { \MAIN ; f32fromui32 $a5, $a1 }
.endm
.macro TO_U32 MAIN:vararg
        { nop   ; f32int $a4, $a0, 3 }
        { \MAIN ; f32int $a5, $a1, 3 }
        { nop   ; f32toui32 $a4, $a4 }
        { nop   ; f32toui32 $a5, $a5 }
.endm
.macro WORDS MAIN:vararg
        { \MAIN ; or64 $a4:5, $a0:1, $a0:1 }
.endm

MAP cast_words WORDS
MAP cast_i32_f32 FROM_I32
MAP cast_u32_f32 FROM_U32
MAP cast_f32_i32 TO_I32
MAP cast_f32_u32 TO_U32
