// SPDX-License-Identifier: MIT
// The gradient of a layer norm over each row, of type t (f16, f32; layer_norm_gradient_f16.S, layer_norm_gradient_f32.S), computed in FP32:
// with g = scale * dy and h = (x - mean) * deviation,
//   out = deviation * (g - mean of g - h * mean of g h)
//   products = h * dy, whose sums over rows are the gradient of scale
// A row is cut into shares (row_shares.inc). Two vertices, one after the other:
//   layer_norm_gradient_sums_t     partials = (sum of g, sum of g (x - mean)) of each share
//   layer_norm_gradient_apply_t    out and products
//
// State of sums, words:
//     0 x, 1 dy       of row 0, 8-byte aligned
//     2 scale         8-byte aligned
//     3 mean          of row 0: FP32 numbers, those of neighbouring rows are neighbours
//     4 partials      [row][share] of a pair of FP32 numbers, 8-byte aligned
//     5               numbers in mean from one of a worker's rows to the next
//     6 ...           of each worker:
//       rows, pairs   of elements of a row, whole ones
//       odd           1 if an element follows, else 0
//       scale         bytes from scale to its first unit
//       mean          bytes from mean to that of its first row
//       x, x skip     bytes from row 0 to its first unit, and from the end of its pairs to its begin in its next row
//       dy, dy skip   the same
// State of apply, words:
//     0 x, 1 dy, 2 scale
//     3 out, 4 products    of row 0, 8-byte aligned; rows are written in whole units
//     5 mean, 6 deviation
//     7 partials
//     8 shares        of a row
//     9               bytes between partials behind a row's and those of the worker's next row
//    10               bytes in mean and deviation from one of a worker's rows to the next
//    11 1 / n         for rows of n elements, FP32
//    12 room          16 bytes for each worker, 8-byte aligned
//    13 ...           of each worker:
//       rows, pairs   those of a unit that is not whole counted
//       partials      bytes to those of its first row
//       x, x skip, dy, dy skip    as above
//       out, out skip as above, also of products
//       scale, mean   as above
// Timing, worker issues: layer_norm_cost.h.
// Source: docs/evidence.md#instruction-set.

#include "row_shares.inc"

#if ELEMENT_BITS == 16
#define SUMS layer_norm_gradient_sums_f16
#define APPLY layer_norm_gradient_apply_f16
#define SUMS_ROUND 7    // bundles
#define APPLY_ROUND 13
#define PAIR_SHIFT 2    // bytes of a pair
#elif ELEMENT_BITS == 32
#define SUMS layer_norm_gradient_sums_f32
#define APPLY layer_norm_gradient_apply_f32
#define SUMS_ROUND 5
#define APPLY_ROUND 10
#define PAIR_SHIFT 3
#else
#error "ELEMENT_BITS: expected 16 or 32"
#endif

#define pairs units
#define x m3
#define dy m4
#define scale m5
#define minus_mean a6
// sums
#define x_skip m6
#define dy_skip m7
#define mean m8
#define partials m9
#define odd m11
// apply
#define out m6
#define products m7
#define means m8        // bytes from mean, and from deviation
#define room m11

        SHARE_START SUMS, 6, 9, sums
        { ld32  $partials, $mvertex_base, $mzero, 4 ; setzi $a0, 1 << CSR_W_FP_CLR__ZAACC__SHIFT }
        { shl   $spare, $index, 3 ; uput $FP_CLR, $a0 }
        { add   $partials, $partials, $spare ; fnop }
        { ld32  $odd, $table, $mzero, 8 ; fnop }
        POINTER $scale, $spare, 2, 9
        POINTER $mean, $spare, 3, 10
        POINTER $x, $x_skip, 0, 11
        POINTER $dy, $dy_skip, 1, 13
        { add   $rows, $rows, -1 ; fnop }
.Lrow_sums:
        { ld32  $spare, $mvertex_base, $mzero, 5 ; zero $a2:3 }
        { ld32step $a6, $mzero, $mean+=, $spare ; zero $a0:1 }
        { rpt   $pairs, SUMS_ROUND - 1 ; f32sub $minus_mean, $azero, $a6 }
.Lpair_sums:
#if ELEMENT_BITS == 16
        { ld32step $a0, $mzero, $x+=, 1 ; f32v4acc $a0:3 }
        { ld32step $a2, $mzero, $dy+=, 1 ; f16v2tof32 $a0:1, $a0 }
        { ld32step $a4, $mzero, $scale+=, 1 ; f16v2tof32 $a2:3, $a2 }
        { nop   ; f16v2tof32 $a4:5, $a4 }
        { nop   ; f32v2add $a0:1, $minus_mean:B, $a0:1 }
#else
        { ld64step $a0:1, $mzero, $x+=, 1 ; f32v4acc $a0:3 }
        { ld64step $a2:3, $mzero, $dy+=, 1 ; f32v2add $a0:1, $minus_mean:B, $a0:1 }
        { ld64step $a4:5, $mzero, $scale+=, 1 ; fnop }
#endif
        { nop   ; f32v2mul $a2:3, $a2:3, $a4:5 }
        { nop   ; f32v2mul $a0:1, $a0:1, $a2:3 }
.Lend_pair_sums:
        { brz   $odd, .Leven_sums ; f32v4acc $a0:3 }
// The last element has a zero beside it.
.Lodd_sums:
#if ELEMENT_BITS == 16
        { ldb16 $a0, $x, $mzero, 0 ; fnop }
        { ldb16 $a2, $dy, $mzero, 0 ; f16tof32 $a0, $a0 }
        { ldb16 $a4, $scale, $mzero, 0 ; f16tof32 $a2, $a2 }
        { nop   ; f16tof32 $a4, $a4 }
#else
        { ld32  $a0, $x, $mzero, 0 ; fnop }
        { ld32  $a2, $dy, $mzero, 0 ; fnop }
        { ld32  $a4, $scale, $mzero, 0 ; fnop }
#endif
        { nop   ; f32add $a0, $minus_mean, $a0 }
        { nop   ; f32mul $a2, $a2, $a4 }
        { nop   ; f32mul $a0, $a0, $a2 }
        { nop   ; mov $a1, $azero }
        { nop   ; mov $a3, $azero }
        { nop   ; f32v4acc $a0:3 }
.Leven_sums:
        { add   $x, $x, $x_skip ; f32v2gina $a2:3, $azeros, 0 }
        { add   $dy, $dy, $dy_skip ; f32v2gina $a0:1, $azeros, 0 }
        { shl   $spare, $pairs, PAIR_SHIFT ; f32add $a0, $a0, $a1 }
        { sub   $scale, $scale, $spare ; f32add $a1, $a2, $a3 }
        { st64step $a0:1, $mzero, $partials+=, CTXT_WORKERS ; fnop }
        { brnzdec $rows, .Lrow_sums ; fnop }
.Ldone_sums:
        exitz   $mzero

.macro SKIP NAME WORD
        { ld32  $spare, $table, $mzero, \WORD ; fnop }
        { add   \NAME, \NAME, $spare ; fnop }
.endm

        SHARE_START APPLY, 13, 11, apply
        { ld32  $spare, $mvertex_base, $mzero, 12 ; fnop }
        { shl   $room, $index, 4 ; fnop }
        { add   $room, $room, $spare ; fnop }
        POINTER $x, $spare, 0, 16
        POINTER $dy, $spare, 1, 18
        POINTER $out, $spare, 3, 20
        POINTER $products, $spare, 4, 20
        POINTER $scale, $means, 2, 22
        { ld32  $partials, $mvertex_base, $mzero, 7 ; fnop }
        { ld32  $spare, $table, $mzero, 15 ; fnop }
        { add   $partials, $partials, $spare ; fnop }
        { add   $rows, $rows, -1 ; fnop }
.Lrow_apply:
        { ld32  $spare, $mvertex_base, $mzero, 8 ; zero $a6:7 }
        { rpt   $spare, 0 ; zero $a0:1 }
.Lpart_apply:
        { ld64step $a0:1, $mzero, $partials+=, 1 ; f32v2add $a6:7, $a6:7, $a0:1 }
.Lend_part_apply:
        { ld32  $a2, $mvertex_base, $mzero, 11 ; f32v2add $a6:7, $a6:7, $a0:1 }
        { ld32  $spare, $mvertex_base, $mzero, 5 ; f32v2mul $a6:7, $a2:B, $a6:7 }
        { ld32  $a0, $spare, $means, 0 ; f32v2sub $a6:7, $azeros, $a6:7 }
        { ld32  $spare, $mvertex_base, $mzero, 6 ; f32sub $a0, $azero, $a0 }
        { ld32  $a1, $spare, $means, 0 ; fnop }
        { st64  $a0:1, $room, $mzero, 0 ; f32mul $a7, $a7, $a1 }
        { st64  $a6:7, $room, $mzero, 1 ; zero $a4:5 }
        { ld32  $spare, $mvertex_base, $mzero, 10 ; mov $a6:7, $a0:1 }
        { add   $means, $means, $spare ; fnop }
        { ld32  $spare, $mvertex_base, $mzero, 9 ; fnop }
        { add   $partials, $partials, $spare ; fnop }
        { setzi $spare, 0 ; fnop }
        { rpt   $pairs, APPLY_ROUND - 1 ; fnop }
// a6 and a7 are in turn -mean and deviation, and minus the means of g and g h, which stand in `room`.
.Lpair_apply:
#if ELEMENT_BITS == 16
// What a round has made is stored in the next; what the first one stores is overwritten.
        { ld32step $a0, $mzero, $x+=, 1 ; f32v2tof16 $a4, $a4:5 }
        { st32step $a4, $mzero, $out+=, $spare ; f16v2tof32 $a0:1, $a0 }
        { ld32step $a2, $mzero, $dy+=, 1 ; f32v2add $a0:1, $a6:B, $a0:1 }
        { ld32step $a4, $mzero, $scale+=, 1 ; f16v2tof32 $a2:3, $a2 }
        { setzi $spare, 1 ; f16v2tof32 $a4:5, $a4 }
        { ld32  $a6, $room, $mzero, 2 ; f32v2mul $a0:1, $a7:B, $a0:1 }
        { ld32  $a7, $room, $mzero, 3 ; f32v2mul $a4:5, $a2:3, $a4:5 }
        { nop   ; f32v2mul $a2:3, $a0:1, $a2:3 }
        { nop   ; f32v2add $a4:5, $a6:B, $a4:5 }
        { nop   ; f32v2tof16 $a6, $a2:3 }
        { st32step $a6, $mzero, $products+=, 1 ; f32v2mul $a0:1, $a7:B, $a0:1 }
        { ld32  $a7, $room, $mzero, 1 ; f32v2add $a4:5, $a4:5, $a0:1 }
        { ld32  $a6, $room, $mzero, 0 ; f32v2mul $a4:5, $a7:B, $a4:5 }
.Lend_pair_apply:
        { nop   ; f32v2tof16 $a4, $a4:5 }
        { st32step $a4, $mzero, $out+=, 1 ; fnop }
#else
        { ld64step $a0:1, $mzero, $x+=, 1 ; fnop }
        { ld64step $a2:3, $mzero, $dy+=, 1 ; f32v2add $a0:1, $a6:B, $a0:1 }
        { ld64step $a4:5, $mzero, $scale+=, 1 ; f32v2mul $a0:1, $a7:B, $a0:1 }
        { ld32  $a6, $room, $mzero, 2 ; f32v2mul $a4:5, $a2:3, $a4:5 }
        { ld32  $a7, $room, $mzero, 3 ; f32v2mul $a2:3, $a0:1, $a2:3 }
        { st64step $a2:3, $mzero, $products+=, 1 ; f32v2add $a4:5, $a6:B, $a4:5 }
        { nop   ; f32v2mul $a0:1, $a7:B, $a0:1 }
        { ld32  $a7, $room, $mzero, 1 ; f32v2add $a4:5, $a4:5, $a0:1 }
        { ld32  $a6, $room, $mzero, 0 ; f32v2mul $a4:5, $a7:B, $a4:5 }
        { st64step $a4:5, $mzero, $out+=, 1 ; fnop }
.Lend_pair_apply:
#endif
        { shl   $spare, $pairs, PAIR_SHIFT ; fnop }
        { sub   $scale, $scale, $spare ; fnop }
        SKIP    $x, 17
        SKIP    $dy, 19
        { ld32  $spare, $table, $mzero, 21 ; fnop }
        { add   $out, $out, $spare ; fnop }
        { add   $products, $products, $spare ; fnop }
        { brnzdec $rows, .Lrow_apply ; fnop }
.Ldone_apply:
        exitz   $mzero
