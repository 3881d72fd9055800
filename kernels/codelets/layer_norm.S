// SPDX-License-Identifier: MIT
// out = (x - mean) * deviation * scale + offset over each row, of type t (f16, f32; layer_norm_f16.S, layer_norm_f32.S), for the row's mean
// and deviation = 1 / sqrt(variance + epsilon). Sums, mean and deviation are FP32. With FP16, (x - mean) * deviation is rounded to FP16
// before it is multiplied by scale, as that product is before offset is added.
// A row is cut into shares (row_shares.inc). Three vertices, one after the other:
//   layer_norm_sums_t       sums = sum of x of each share
//   layer_norm_squares_t    squares = sum of (x - mean)^2 of each share
//   layer_norm_apply_t      mean, deviation and out. All workers of a row store the same mean and deviation
//
// State of layer_norm_sums_t and layer_norm_squares_t, words:
//     0 x             of row 0, 8-byte aligned
//     1               sums, or squares: [row][share] of FP32 numbers
//     2 sums          the rest is of squares: as sums have been written
//     3 shares        of a row
//     4 1 / n         for rows of n elements, FP32
//     5 ...           of each worker:
//       rows, units   of a row, whole ones
//       tail          elements behind them
//       x, x skip     bytes from row 0 to its first unit, and from the end of its share to its begin in its next row
//       sums          bytes to those of its first row
// State of layer_norm_apply_t, words:
//     0 x, 1 out      of row 0, 8-byte aligned; a row of out is written in whole units
//     2 scale, 3 offset    8-byte aligned
//     4 sums, 5 shares, 6 1 / n
//     7 epsilon       FP32
//     8 mean, 9 deviation  of row 0: FP32 numbers, those of neighbouring rows are neighbours
//    10               bytes of those between a worker's rows
//    11 squares
//    12 ...           of each worker:
//       rows, units   one that is not whole counted
//       sums          bytes to those of its first row, and to its squares
//       x, x skip, out, out skip    as above
//       scale         bytes from scale to its first unit, and from offset
//       mean          bytes from mean to that of its first row, and from deviation
// Timing, worker issues: layer_norm_cost.h.
// Source: docs/evidence.md#instruction-set.

#include "row_shares.inc"

#if ELEMENT_BITS == 16
#define SUMS layer_norm_sums_f16
#define SQUARES layer_norm_squares_f16
#define APPLY layer_norm_apply_f16
#define SUM f16v4acc $a0:1
#define TAIL_SUM_ROUND 2        // bundles
#define SQUARES_ROUND 6
#define TAIL_SQUARES_ROUND 4
#define APPLY_ROUND 9
#define ADD f16v4add
#elif ELEMENT_BITS == 32
#define SUMS layer_norm_sums_f32
#define SQUARES layer_norm_squares_f32
#define APPLY layer_norm_apply_f32
#define SUM f32v4acc $a0:3      // of which two are zero
#define TAIL_SUM_ROUND 1
#define SQUARES_ROUND 2
#define TAIL_SQUARES_ROUND 3
#define APPLY_ROUND 5
#define ADD f32v2add
#else
#error "ELEMENT_BITS: expected 16 or 32"
#endif

#define x m3
#define own m4          // what the worker's share becomes
#define tail m5
#define x_skip m6
#define row_sums m7       // of a row
#define shares m8
#define partial m9
// apply
#define out m4
#define scale m5
#define offset m6
#define means m8        // bytes from mean, and from deviation
#define square m11
#define minus_mean a6
#define deviation a7

.macro SUMS_START NAME PART
        SHARE_START \NAME, 5, 6, \PART
        { ld32  $tail, $table, $mzero, 7 ; setzi $a0, 1 << CSR_W_FP_CLR__ZAACC__SHIFT }
        { ld32  $own, $mvertex_base, $mzero, 1 ; uput $FP_CLR, $a0 }
        { shl   $spare, $index, 2 ; fnop }
        { add   $own, $own, $spare ; fnop }
        POINTER $x, $x_skip, 0, 8
        { add   $rows, $rows, -1 ; fnop }
.endm

        SUMS_START SUMS, sums
.Lrow_sums:
        { nop   ; zero $a2:3 }
        { rpt   $units, 0 ; zero $a0:1 }
.Lunit_sums:
        { ld64step $a0:1, $mzero, $x+=, 1 ; SUM }
.Lend_unit_sums:
        { nop   ; SUM }
        { rpt   $tail, TAIL_SUM_ROUND - 1 ; zero $a4:5 }
.Ltail_sums:
#if ELEMENT_BITS == 16
        { ldb16step $a0, $mzero, $x+=, 1 ; f32add $a4, $a4, $a5 }
        { nop   ; f16tof32 $a5, $a0 }
#else
        { ld32step $a5, $mzero, $x+=, 1 ; f32add $a4, $a4, $a5 }
#endif
.Lend_tail_sums:
        { nop   ; f32v2gina $a0:1, $azeros, 0 }
        { nop   ; f32v2gina $a2:3, $azeros, 0 }
        { nop   ; f32v2add $a0:1, $a0:1, $a2:3 }
        { nop   ; f32v2add $a0:1, $a0:1, $a4:5 }
        { add   $x, $x, $x_skip ; f32add $a0, $a0, $a1 }
        { st32step $a0, $mzero, $own+=, CTXT_WORKERS ; fnop }
        { brnzdec $rows, .Lrow_sums ; fnop }
.Ldone_sums:
        exitz   $mzero

        SUMS_START SQUARES, squares
        { ld32  $row_sums, $mvertex_base, $mzero, 2 ; fnop }
        { ld32  $spare, $table, $mzero, 10 ; fnop }
        { add   $row_sums, $row_sums, $spare ; fnop }
        { ld32  $shares, $mvertex_base, $mzero, 3 ; fnop }
.Lrow_squares:
        { mov   $partial, $row_sums ; zero $a6:7 }
        { rpt   $shares, 0 ; fnop }
.Lpart_squares:
        { ld32step $a7, $mzero, $partial+=, 1 ; f32add $a6, $a6, $a7 }
.Lend_part_squares:
        { ld32  $a7, $mvertex_base, $mzero, 4 ; f32add $a6, $a6, $a7 }
        { add   $row_sums, $row_sums, 4 * CTXT_WORKERS ; f32mul $a6, $a6, $a7 }
        { nop   ; f32sub $minus_mean, $azero, $a6 }
        { rpt   $units, SQUARES_ROUND - 1 ; zero $a4:5 }
.Lunit_squares:
#if ELEMENT_BITS == 16
        { ld64step $a0:1, $mzero, $x+=, 1 ; f32v2mac $a4:5, $a4:5 }
        { nop   ; f16v2tof32 $a2:3, $a0 }
        { nop   ; f16v2tof32 $a4:5, $a1 }
        { nop   ; f32v2add $a2:3, $minus_mean:B, $a2:3 }
        { nop   ; f32v2add $a4:5, $minus_mean:B, $a4:5 }
        { nop   ; f32v2mac $a2:3, $a2:3 }
#else
        { ld64step $a0:1, $mzero, $x+=, 1 ; f32v2mac $a4:5, $a4:5 }
        { nop   ; f32v2add $a4:5, $minus_mean:B, $a0:1 }
#endif
.Lend_unit_squares:
        { rpt   $tail, TAIL_SQUARES_ROUND - 1 ; f32v2mac $a4:5, $a4:5 }
.Ltail_squares:
#if ELEMENT_BITS == 16
        { ldb16step $a0, $mzero, $x+=, 1 ; fnop }
        { nop   ; f16tof32 $a0, $a0 }
#else
        { ld32step $a0, $mzero, $x+=, 1 ; fnop }
#endif
        { nop   ; f32add $a0, $minus_mean, $a0 }
        { nop   ; f32mac $a0, $a0 }
.Lend_tail_squares:
        { add   $x, $x, $x_skip ; f32v2gina $a0:1, $azeros, 0 }
        { nop   ; f32add $a0, $a0, $a1 }
        { st32step $a0, $mzero, $own+=, CTXT_WORKERS ; fnop }
        { brnzdec $rows, .Lrow_squares ; fnop }
.Ldone_squares:
        exitz   $mzero

// Pointers of x and out skip by words of the table.
.macro SKIP NAME WORD
        { ld32  $spare, $table, $mzero, \WORD ; fnop }
        { add   \NAME, \NAME, $spare ; fnop }
.endm

        SHARE_START APPLY, 12, 9, apply
        POINTER $x, $spare, 0, 15
        POINTER $out, $spare, 1, 17
        POINTER $scale, $means, 2, 19
        POINTER $offset, $means, 3, 19
        { ld32  $row_sums, $table, $mzero, 14 ; fnop }
        { add   $rows, $rows, -1 ; fnop }
.Lrow_apply:
        { ld32  $partial, $mvertex_base, $mzero, 4 ; zero $a6:7 }
        { ld32  $square, $mvertex_base, $mzero, 11 ; zero $a0:1 }
        { add   $partial, $partial, $row_sums ; zero $a2:3 }
        { ld32  $spare, $mvertex_base, $mzero, 5 ; zero $a4:5 }
        { add   $square, $square, $row_sums ; fnop }
        { rpt   $spare, 1 ; fnop }
.Lpart_apply:
        { ld32step $a0, $mzero, $partial+=, 1 ; f32v2add $a6:7, $a6:7, $a0:1 }
        { ld32step $a1, $mzero, $square+=, 1 ; fnop }
.Lend_part_apply:
        { ld32  $a0, $mvertex_base, $mzero, 6 ; f32v2add $a6:7, $a6:7, $a0:1 }
        { ld32  $a1, $mvertex_base, $mzero, 7 ; f32v2mul $a6:7, $a0:B, $a6:7 }
        { ld32  $spare, $mvertex_base, $mzero, 8 ; f32add $a7, $a7, $a1 }
        { st32  $a6, $spare, $means, 0 ; f32oorx $deviation, $a7 }
        { ld32  $spare, $mvertex_base, $mzero, 9 ; f32sub $minus_mean, $azero, $a6 }
        { st32  $a7, $spare, $means, 0 ; fnop }
        { ld32  $spare, $mvertex_base, $mzero, 10 ; fnop }
        { add   $means, $means, $spare ; fnop }
        { add   $row_sums, $row_sums, 4 * CTXT_WORKERS ; fnop }
        { setzi $spare, 0 ; fnop }
        { rpt   $units, APPLY_ROUND - 1 ; fnop }
// What a round has made is stored in the next; what the first one stores is overwritten.
.Lunit_apply:
#if ELEMENT_BITS == 16
        { ld64step $a0:1, $mzero, $x+=, 1 ; f16v4add $a4:5, $a4:5, $a2:3 }
        { st64step $a4:5, $mzero, $out+=, $spare ; f16v2tof32 $a2:3, $a1 }
        { setzi $spare, 1 ; f16v2tof32 $a0:1, $a0 }
        { nop   ; f32v2add $a2:3, $minus_mean:B, $a2:3 }
        { nop   ; f32v2add $a0:1, $minus_mean:B, $a0:1 }
        { nop   ; f32v2mul $a2:3, $deviation:B, $a2:3 }
        { ld64step $a4:5, $mzero, $scale+=, 1 ; f32v2mul $a0:1, $deviation:B, $a0:1 }
        { nop   ; f32v4tof16 $a0:1, $a0:3 }
        { ld64step $a2:3, $mzero, $offset+=, 1 ; f16v4mul $a4:5, $a0:1, $a4:5 }
#else
        { ld64step $a0:1, $mzero, $x+=, 1 ; f32v2add $a4:5, $a4:5, $a2:3 }
        { st64step $a4:5, $mzero, $out+=, $spare ; f32v2add $a0:1, $minus_mean:B, $a0:1 }
        { ld64step $a4:5, $mzero, $scale+=, 1 ; f32v2mul $a0:1, $deviation:B, $a0:1 }
        { ld64step $a2:3, $mzero, $offset+=, 1 ; f32v2mul $a4:5, $a0:1, $a4:5 }
        { setzi $spare, 1 ; fnop }
#endif
.Lend_unit_apply:
        { shl   $spare, $units, 3 ; ADD $a4:5, $a4:5, $a2:3 }
        { st64step $a4:5, $mzero, $out+=, 1 ; fnop }
        { sub   $scale, $scale, $spare ; fnop }
        { sub   $offset, $offset, $spare ; fnop }
        SKIP    $x, 16
        SKIP    $out, 18
        { brnzdec $rows, .Lrow_apply ; fnop }
.Ldone_apply:
        exitz   $mzero
