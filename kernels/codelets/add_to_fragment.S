// SPDX-License-Identifier: MIT
// x = x + y, rounded once, where x is a fragment of an array. Which one follows from the chip's rank and the round of the
// loop around it: (rank - round + shift) mod fragments.
//
// Vertices add_to_fragment_f16, add_to_fragment_f32, add_to_fragment_i32 (multi worker). State: elementwise.inc, with
//   sides for fragment 0, y and fragment 0; its constants:
//     12, 13  where the rank is, and where the round is
//     14      bytes from fragment to fragment
//     15      fragments
//     16      shift, from their number negative up to -1
// Timing, worker issues of a unit: 3; of whole numbers 8.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

#define sum m11

.macro FRAGMENT
        { ld32  $spare, $mvertex_base, $mzero, 12 ; fnop }
        { ld32  $sum, $spare, $mzero, 0 ; fnop }
        { ld32  $spare, $mvertex_base, $mzero, 13 ; fnop }
        { ld32  $spare, $spare, $mzero, 0 ; fnop }
        { sub   $sum, $sum, $spare ; fnop }
        { ld32  $spare, $mvertex_base, $mzero, 16 ; fnop }
        { add   $sum, $sum, $spare ; fnop }
        { ld32  $index, $mvertex_base, $mzero, 15 ; fnop }
        // The sum is below the number of fragments and above twice that number negative.
        { shrs  $spare, $sum, 31 ; fnop }
        { and   $spare, $spare, $index ; fnop }
        { add   $sum, $sum, $spare ; fnop }
        { shrs  $spare, $sum, 31 ; fnop }
        { and   $spare, $spare, $index ; fnop }
        { add   $sum, $sum, $spare ; fnop }
        { ld32  $spare, $mvertex_base, $mzero, 14 ; fnop }
        { mul   $sum, $sum, $spare ; fnop }
        { add   $x, $x, $sum ; fnop }
        { add   $out, $out, $sum ; fnop }
.endm

.macro ADD_F16 MAIN:vararg
        { \MAIN ; f16v4add $a4:5, $a0:1, $a2:3 }
.endm
.macro ADD_F32 MAIN:vararg
        { \MAIN ; f32v2add $a4:5, $a0:1, $a2:3 }
.endm

MAP2 add_to_fragment_f16 ADD_F16, ONLY, FRAGMENT
MAP2 add_to_fragment_f32 ADD_F32, ONLY, FRAGMENT

.macro ADD_WORD
        { ld32step $sum, $mzero, $x+=, 1 ; fnop }
        { ld32step $spare, $mzero, $y+=, 1 ; fnop }
        { add   $sum, $sum, $spare ; fnop }
        { st32step $sum, $mzero, $out+=, 1 ; fnop }
.endm

        START   add_to_fragment_i32, 3, FRAGMENT
        rpt     $rounds, (.Lend_unit_add_to_fragment_i32 - .Lunit_add_to_fragment_i32) / 8 - 1
.Lunit_add_to_fragment_i32:
        ADD_WORD
        ADD_WORD
.Lend_unit_add_to_fragment_i32:
        add     $x, $x, $x_skip
        END     add_to_fragment_i32, 3
