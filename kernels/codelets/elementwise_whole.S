// SPDX-License-Identifier: MIT
// Whole numbers of 32 bits: out = x - y or x * y, modulo 2^32, the larger of x and y, or the smaller one, or the number
// that the lowest bits of x are. The main lane computes, so that timing mode knows the results of words that it knows.
//
// Vertices subtract_i32, multiply_i32, maximum_i32, minimum_i32, maximum_u32, minimum_u32 (multi worker).
// State: elementwise.inc.
// Vertices narrow_i32, narrow_u32 (multi worker). State: elementwise.inc, and
//     9 drop           32 less the bits that are kept
// Timing, worker issues of a unit: 8; 10 of maximum_u32 and minimum_u32.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

#define made m11

// OF: instructions from $made, an element of x, and $spare, one of y, to $made.
.macro WHOLE NAME OF:vararg
        START   \NAME, 3
        rpt     $rounds, (.Lend_unit_\NAME - .Lunit_\NAME) / 8 - 1
.Lunit_\NAME:
    .rept 2
        { ld32step $made, $mzero, $x+=, 1 ; fnop }
        { ld32step $spare, $mzero, $y+=, 1 ; fnop }
        \OF
        { st32step $made, $mzero, $out+=, 1 ; fnop }
    .endr
.Lend_unit_\NAME:
        add     $x, $x, $x_skip
        END     \NAME, 3
.endm

.macro SUBTRACT
        { sub   $made, $made, $spare ; fnop }
.endm
.macro MULTIPLY
        { mul   $made, $made, $spare ; fnop }
.endm
.macro MAXIMUM
        { max   $made, $made, $spare ; fnop }
.endm
.macro MINIMUM
        { min   $made, $made, $spare ; fnop }
.endm
// $index is free behind START
.macro MAXIMUM_UNSIGNED
        { cmpult $index, $made, $spare ; fnop }
        { movnz $made, $index, $spare ; fnop }
.endm
.macro MINIMUM_UNSIGNED
        { cmpult $index, $spare, $made ; fnop }
        { movnz $made, $index, $spare ; fnop }
.endm

WHOLE subtract_i32 SUBTRACT
WHOLE multiply_i32 MULTIPLY
WHOLE maximum_i32 MAXIMUM
WHOLE minimum_i32 MINIMUM
WHOLE maximum_u32 MAXIMUM_UNSIGNED
WHOLE minimum_u32 MINIMUM_UNSIGNED

.macro DROP
        ld32    $y, $mvertex_base, $mzero, 9
.endm

// BACK shifts to the right.
.macro NARROW NAME BACK
        START   \NAME, 2, DROP
        rpt     $rounds, (.Lend_unit_\NAME - .Lunit_\NAME) / 8 - 1
.Lunit_\NAME:
    .rept 2
        { ld32step $made, $mzero, $x+=, 1 ; fnop }
        { shl   $made, $made, $y ; fnop }
        { \BACK $made, $made, $y ; fnop }
        { st32step $made, $mzero, $out+=, 1 ; fnop }
    .endr
.Lend_unit_\NAME:
        add     $x, $x, $x_skip
        END     \NAME, 2
.endm

NARROW narrow_i32 shrs
NARROW narrow_u32 shr
