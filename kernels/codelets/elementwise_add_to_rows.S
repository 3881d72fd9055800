// SPDX-License-Identifier: MIT
// out = x + y in every element of a row, y having an element for each row; rounded once.
//
// Vertices add_to_rows_f16, add_to_rows_f32 (multi worker). State: elementwise.inc, y being side 1: from row to row it
// has the bytes of an element.
// Timing, worker issues of a unit: 2.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

.macro ADD_TO_ROWS NAME LOAD ADD BROADCAST
        START   \NAME, 3
        \LOAD   $a2, $y, $mzero, 0
        ld64step $a0:1, $mzero, $x+=, 1
        rpt     $rounds, 1
.Lunit_\NAME:
        { ld64step $a0:1, $mzero, $x+=, 1 ; \ADD $a4:5, $a2:\BROADCAST, $a0:1 }
        STORE_UNIT
.Lend_unit_\NAME:
        { add $x, $x, $x_skip ; \ADD $a4:5, $a2:\BROADCAST, $a0:1 }
        STORE_UNIT
        END     \NAME, 3
.endm

ADD_TO_ROWS add_to_rows_f16 ldb16 f16v4add BL
ADD_TO_ROWS add_to_rows_f32 ld32 f32v2add B
