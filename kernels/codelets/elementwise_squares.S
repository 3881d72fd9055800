// SPDX-License-Identifier: MIT
// Sums of the squares of elements, or of the differences of two tensors' elements: a pair of sums for each worker.
//
// Vertices squares_f16, squares_f32 (multi worker). State: elementwise.inc with one side; and
//     6 sums          pair w is worker w's; 8-byte aligned
// Vertices squares_of_difference_f16, squares_of_difference_f32 (multi worker). State: elementwise.inc with two sides; and
//     9 sums
//   Beside elements units have zeros. FP16 differences are rounded to FP16. Squares of FP16 are exact, and two of them are added and
//   rounded before they are added to an FP32 sum; squares of FP32 are rounded.
// Timing, worker issues of a unit: 1, of differences 2.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"
#include "pair_sums.inc"

.macro SUMS
        f32v2gina $a0:1, $azeros, 0
.endm
.macro LEAVE_SQUARES
        LEAVE_PAIR 6
.endm
.macro LEAVE_DIFFERENCES
        LEAVE_PAIR 9
.endm

.macro SQUARES NAME SQUARE
        START   \NAME, 1, NO_CONSTANTS, CLEAR
        ld64step $a0:1, $mzero, $out+=, 1
        { rpt   $rounds, (.Lend_unit_\NAME - .Lunit_\NAME) / 8 - 1 ; fnop }
.Lunit_\NAME:
        { ld64step $a0:1, $mzero, $out+=, 1 ; \SQUARE $a0:1, $a0:1 }
.Lend_unit_\NAME:
        { nop   ; \SQUARE $a0:1, $a0:1 }
        NEXT    \NAME, LEAVE_SQUARES
.endm

.macro DIFFERENCES NAME SUBTRACT SQUARE
        START   \NAME, 2, NO_CONSTANTS, CLEAR
        ld64step $a0:1, $mzero, $x+=, 1
        ld64step $a2:3, $mzero, $out+=, 1
        { rpt   $rounds, (.Lend_unit_\NAME - .Lunit_\NAME) / 8 - 1 ; fnop }
.Lunit_\NAME:
        { ld64step $a0:1, $mzero, $x+=, 1 ; \SUBTRACT $a4:5, $a0:1, $a2:3 }
        { ld64step $a2:3, $mzero, $out+=, 1 ; \SQUARE $a4:5, $a4:5 }
.Lend_unit_\NAME:
        { add   $x, $x, $x_skip ; \SUBTRACT $a4:5, $a0:1, $a2:3 }
        { nop   ; \SQUARE $a4:5, $a4:5 }
        NEXT    \NAME, LEAVE_DIFFERENCES
.endm

SQUARES squares_f16 f16v4cmac
SQUARES squares_f32 f32v2mac
DIFFERENCES squares_of_difference_f16 f16v4sub f16v4cmac
DIFFERENCES squares_of_difference_f32 f32v2sub f32v2mac
