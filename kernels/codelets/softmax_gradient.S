// SPDX-License-Identifier: MIT
// dx = y (dy - sum of y dy) over each row, of type t (f16, f32; softmax_gradient_f16.S, softmax_gradient_f32.S), computed in FP32.
// A unit is 8 bytes of a row. A row is cut into shares of neighbouring units, and each share is one worker's, so that a tile with few
// rows keeps all of them busy. Worker w has share w % shares of the rows w / shares, + workers / shares, ...
// Two vertices, one after the other:
//   softmax_gradient_sums_t     partials = -(sum of y dy) of each share
//   softmax_gradient_apply_t    dx = y (dy + the sum of the row's partials)
//
// State, words:
//     0 y, 1 dy       of row 0, 8-byte aligned
//     2               sums: partials, [row][share] of 4 bytes. apply: out, of row 0; a row is written in whole units
//     3               apply: partials
//     4               apply: shares of a row
//     3, 4            sums: the bits of a row's last unit that are elements
//     5 ...           of each worker:
//       rows, units   of a row; sums: whole ones
//       tail          sums: 1 if the share ends with a unit that is not whole, else 0. apply: bytes from partials to its first row's
//       y, y skip     bytes from row 0 to its first unit, and from the end of its units to their begin in its next row
//       dy, dy skip   the same
//       out, out skip apply: the same
// Timing, worker issues: softmax_gradient_cost.h.
// Source: docs/evidence.md#instruction-set.

#include "row_shares.inc"

#if ELEMENT_BITS == 16
#define SUMS softmax_gradient_sums_f16
#define APPLY softmax_gradient_apply_f16
#define MAC f16v4cmac
#define APPLY_ROUND 11  // bundles
#elif ELEMENT_BITS == 32
#define SUMS softmax_gradient_sums_f32
#define APPLY softmax_gradient_apply_f32
#define MAC f32v2mac
#define APPLY_ROUND 4
#else
#error "ELEMENT_BITS: expected 16 or 32"
#endif

#define y m3
#define y_skip m4
#define dy m5
#define dy_skip m6
#define partials m7
// sums
#define tail m8
// apply
#define out m8
#define out_skip m9
#define shares m0
#define partial m11

        SHARE_START SUMS, 5, 7, sums
        POINTER $y, $y_skip, 0, 8
        POINTER $dy, $dy_skip, 1, 10
        { ld32  $tail, $table, $mzero, 7 ; setzi $a0, 1 << CSR_W_FP_CLR__ZAACC__SHIFT }
        { ld32  $partials, $mvertex_base, $mzero, 2 ; uput $FP_CLR, $a0 }
        { shl   $spare, $index, 2 ; fnop }
        { add   $partials, $partials, $spare ; fnop }
        { add   $rows, $rows, -1 ; fnop }
.Lrow_sums:
        { nop   ; zero $a0:1 }
        { rpt   $units, 1 ; zero $a2:3 }
.Lunit_sums:
        { ld64step $a0:1, $mzero, $y+=, 1 ; MAC $a0:1, $a2:3 }
        { ld64step $a2:3, $mzero, $dy+=, 1 ; fnop }
.Lend_unit_sums:
        { brz   $tail, .Lwhole_sums ; MAC $a0:1, $a2:3 }
// What is beside the elements may be anything.
.Ltail_sums:
        { ld32  $a4, $mvertex_base, $mzero, 3 ; fnop }
        { ld32  $a5, $mvertex_base, $mzero, 4 ; fnop }
        { ld64  $a0:1, $y, $mzero, 0 ; fnop }
        { ld64  $a2:3, $dy, $mzero, 0 ; and64 $a0:1, $a0:1, $a4:5 }
        { nop   ; and64 $a2:3, $a2:3, $a4:5 }
        { nop   ; MAC $a0:1, $a2:3 }
.Lwhole_sums:
        { add   $y, $y, $y_skip ; f32v2gina $a6:7, $azeros, 0 }
        { add   $dy, $dy, $dy_skip ; f32add $a6, $a6, $a7 }
        { nop   ; f32sub $a6, $azero, $a6 }
        { st32step $a6, $mzero, $partials+=, CTXT_WORKERS ; fnop }
        { brnzdec $rows, .Lrow_sums ; fnop }
.Ldone_sums:
        exitz   $mzero

        SHARE_START APPLY, 5, 9, apply
        POINTER $y, $y_skip, 0, 8
        POINTER $dy, $dy_skip, 1, 10
        POINTER $out, $out_skip, 2, 12
        { ld32  $partials, $mvertex_base, $mzero, 3 ; fnop }
        { ld32  $spare, $table, $mzero, 7 ; fnop }
        { add   $partials, $partials, $spare ; fnop }
        { ld32  $shares, $mvertex_base, $mzero, 4 ; fnop }
        { add   $rows, $rows, -1 ; fnop }
.Lrow_apply:
        { mov   $partial, $partials ; zero $a6:7 }
        { rpt   $shares, 0 ; fnop }
.Lpart_apply:
        { ld32step $a7, $mzero, $partial+=, 1 ; f32add $a6, $a6, $a7 }
.Lend_part_apply:
        { add   $partials, $partials, 4 * CTXT_WORKERS ; f32add $a6, $a6, $a7 }
        { rpt   $units, APPLY_ROUND - 1 ; fnop }
.Lunit_apply:
#if ELEMENT_BITS == 16
        { ld32step $a0, $mzero, $dy+=, 1 ; fnop }
        { ld32step $a2, $mzero, $y+=, 1 ; f16v2tof32 $a0:1, $a0 }
        { nop   ; f32v2add $a0:1, $a6:B, $a0:1 }
        { ld32step $a4, $mzero, $dy+=, 1 ; f16v2tof32 $a2:3, $a2 }
        { nop   ; f32v2mul $a0:1, $a0:1, $a2:3 }
        { ld32step $a2, $mzero, $y+=, 1 ; f16v2tof32 $a4:5, $a4 }
        { nop   ; f32v2add $a4:5, $a6:B, $a4:5 }
        { nop   ; f16v2tof32 $a2:3, $a2 }
        { nop   ; f32v2mul $a2:3, $a2:3, $a4:5 }
        { nop   ; f32v4tof16 $a0:1, $a0:3 }
        { st64step $a0:1, $mzero, $out+=, 1 ; fnop }
#else
        { ld64step $a2:3, $mzero, $dy+=, 1 ; fnop }
        { ld64step $a0:1, $mzero, $y+=, 1 ; f32v2add $a4:5, $a6:B, $a2:3 }
        { nop   ; f32v2mul $a4:5, $a0:1, $a4:5 }
        { st64step $a4:5, $mzero, $out+=, 1 ; fnop }
#endif
.Lend_unit_apply:
        { add   $y, $y, $y_skip ; fnop }
        { add   $dy, $dy, $dy_skip ; fnop }
        { add   $out, $out, $out_skip ; fnop }
        { brnzdec $rows, .Lrow_apply ; fnop }
.Ldone_apply:
        exitz   $mzero
