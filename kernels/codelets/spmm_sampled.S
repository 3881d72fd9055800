// SPDX-License-Identifier: MIT
// Gradient of the values of a static sparse product: for each stored element in row r and column c of W, the product of row r of dY with row c of X.
// FP16 data (spmm_sampled_f32.S) or FP32 (spmm_sampled_single.S); sums are in FP32.
//
// A unit has the products of one row of dY with neighbouring rows of X.
//
// Vertex spmm_sampled_p (multi worker; p: f32, single). State, words:
//     0 out        FP32, unit after unit
//     1 list       4-byte aligned; two halves a unit: words of 8 bytes from dY to its row, and from X to its first row
//     2 dY         [row][column], 8-byte aligned
//     3 X          the same, in no memory element that dY is in
//     4 row        bytes of a row of either, a multiple of 16
//     5 products of a unit, less one
//     6 units / workers, 7 units % workers
// Nothing is read beyond.
// Timing, worker issues: 23, and a unit takes 13, and each of its products 5 and one for every 8 bytes of a row; without units 11.
// Source: docs/evidence.md#instruction-set.

#include "partials.inc"
#include "worker_share.inc"
#include "poplar/TileConstants.hpp"

#if DATA_BITS == 16
#define MAC f16v4cmac
#else
#define MAC f32v2mac
#endif

#define addresses m0:1
#define list m2
#define out m3
#define row_bytes m4
#define units m5        // behind this one
#define run m6          // products of a unit, less one
#define more m7         // words of 8 bytes of a row, less one
#define row_dy m8
#define row_x m9
#define left m10        // products of the unit behind this one
// until the first unit
#define first m11
// while there are no addresses
#define dy m0
#define x m1

.macro LOAD
        ld2x64pace $a0:1, $a2:3, $addresses+=, $mzero, 0
.endm

        .section .text.TYPED(spmm_sampled), "ax"
        .worker
        .align 8
        .globl TYPED(spmm_sampled)
TYPED(spmm_sampled):
        WORKER_INDEX
        WORKER_SHARE 6
        brz     $m6, .Lnothing
.Lsome_units:
        { add   $units, $m6, -1 ; setzi $a0, 1 << CSR_W_FP_CLR__ZAACC__SHIFT }
        { ld32  $out, $mvertex_base, $mzero, 0 ; uput $FP_CLR, $a0 }
        ld32    $list, $mvertex_base, $mzero, 1
        ld32    $row_bytes, $mvertex_base, $mzero, 4
        ld32    $run, $mvertex_base, $mzero, 5
        shl     $m8, $first, 2
        add     $list, $list, $m8
        mul     $m9, $m8, $run
        add     $m8, $m8, $m9
        add     $out, $out, $m8
        shr     $more, $row_bytes, 3
        add     $more, $more, -1
        .align 8
.Lunit:
        ldz16step $row_dy, $mzero, $list+=, 1
        ldz16step $row_x, $mzero, $list+=, 1
        ld32    $dy, $mvertex_base, $mzero, 2
        ld32    $x, $mvertex_base, $mzero, 3
        shl     $row_dy, $row_dy, 3
        shl     $row_x, $row_x, 3
        add     $row_dy, $row_dy, $dy
        add     $row_x, $row_x, $x
        mov     $left, $run
        tapack  $addresses, $row_x, $row_dy, $mzero
        { LOAD  ; fnop }
        { bri   .Lproduct ; fnop }
// The product before is stored while the first words of the next one come.
.Lnext:
        { tapack $addresses, $row_x, $row_dy, $mzero ; f32v2gina $a6:7, $azeros, 0 }
        { LOAD  ; f32add $a6, $a6, $a7 }
        { st32step $a6, $mzero, $out+=, 1 ; fnop }
.Lproduct:
        { rpt   $more, 0 ; fnop }
.Lword:
        { LOAD  ; MAC $a0:1, $a2:3 }
.Llast_word:
        { add   $row_x, $row_x, $row_bytes ; MAC $a0:1, $a2:3 }
        brnzdec $left, .Lnext
.Lunit_done:
        f32v2gina $a6:7, $azeros, 0
        f32add  $a6, $a6, $a7
        st32step $a6, $mzero, $out+=, 1
        brnzdec $units, .Lunit
.Lnothing:
        exitz   $mzero
