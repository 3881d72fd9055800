// SPDX-License-Identifier: MIT
// out = x + y of whole numbers of 32 bits, modulo 2^32. The main lane adds, so that timing mode knows the sums of words
// that it knows.
//
// Vertex add_i32 (multi worker). State: elementwise.inc.
// Timing, worker issues of a unit: 8.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

#define sum m11

.macro ADD_WORD
        { ld32step $sum, $mzero, $x+=, 1 ; fnop }
        { ld32step $spare, $mzero, $y+=, 1 ; fnop }
        { add   $sum, $sum, $spare ; fnop }
        { st32step $sum, $mzero, $out+=, 1 ; fnop }
.endm

        START   add_i32, 3
        rpt     $rounds, (.Lend_unit_add_i32 - .Lunit_add_i32) / 8 - 1
.Lunit_add_i32:
        ADD_WORD
        ADD_WORD
.Lend_unit_add_i32:
        add     $x, $x, $x_skip
        END     add_i32, 3
