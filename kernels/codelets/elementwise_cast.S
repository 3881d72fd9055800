// SPDX-License-Identifier: MIT
// out = x in the other type.
//
// Vertices cast_f16_f32 (a unit of x is 16 bytes of out), cast_f32_f16 (4 bytes; multi worker). State: elementwise.inc.
// Timing, worker issues of a unit: 4 and 2.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

.macro WIDEN MAIN:vararg
        { nop   ; f16v2tof32 $a4:5, $a0 }
        { \MAIN ; f16v2tof32 $a6:7, $a1 }
.endm
.macro STORE_WIDE
        { st64step $a4:5, $mzero, $out+=, 1 ; fnop }
        { st64step $a6:7, $mzero, $out+=, 1 ; fnop }
.endm
.macro NARROW MAIN:vararg
        { \MAIN ; f32v2tof16 $a4, $a0:1 }
.endm
.macro STORE_NARROW
        { st32step $a4, $mzero, $out+=, 1 ; fnop }
.endm

MAP cast_f16_f32 WIDEN STORE=STORE_WIDE
MAP cast_f32_f16 NARROW STORE=STORE_NARROW
