// SPDX-License-Identifier: MIT
// Gradient of the values of a product of dynamic_elements.S: for each element of the buckets in row r and column c of W, the product of row r
// of dY with row c of X is added to an FP32 partial. FP16 data (dynamic_elements_values_f32.S) or FP32 (dynamic_elements_values_single.S);
// sums are in FP32.
//
// Vertex dynamic_elements_values_p (supervisor; p: f32, single). State: dynamic_elements.inc, but
//     0 out        FP32, of the first bucket: in the order of its values
//     2            not used
//     3 dense      X: [column of the part][column]
//     5            bytes from a bucket's partials to the next one's
//     9 scratch    6 words
//    10 dY         [row of the part][column], 8-byte aligned, in no memory element that X is in
// X is in no memory element that metadata is in. Metadata have the lists of the gradient of the values. Nothing is read beyond a buffer.
// Timing, worker issues: 24, a row 9 and an element with g groups of 16 bytes of columns 9 + 2 g; with one group 14 and 5.
// Source: docs/published_plans.md#dynamic-sparse-products.

#define SCANNED 0
#define SCANNED_SHIFT 2
#include "partials.inc"
#include "dynamic_elements.inc"
#include "poplar/TileConstants.hpp"

#if DATA_BITS == 16
#define MAC f16v4cmac
#else
#define MAC f32v2mac
#endif

// words of the scratch
#define SCRATCH_METADATA 0      // of the sub-group
#define SCRATCH_OUT 1
#define SCRATCH_X 2
#define SCRATCH_DY 3
#define SCRATCH_ROW_BYTES 4     // of X and dY
#define SCRATCH_MORE 5          // 8 bytes of these behind the first ones

// words from a worker's part of the lists
#define LISTS (9 + 5 * CTXT_WORKERS)
#define LIST_BEFORE LISTS + 0
#define LIST_ROW_WORDS LISTS + 1
#define LIST_PLACE_WORDS LISTS + 2
#define LIST_ELEMENTS LISTS + 3
#define LIST_ROW_ELEMENTS LISTS + 4
#define LIST_BYTES 10

#define addresses m0:1
#define places m2
#define out m3
#define out_in m4       // the next partial to be read
#define x m5
#define dy m6
#define row_bytes m7
#define left m8         // elements behind this row's, less one
#define more m9         // elements of the row behind this one
#define place m10
#define row_dy m11
// before the first row
#define metadata m0
#define entry m1

// The worker's part of the row whose number is in `place`; `more` is set.
.macro ROW
        mul     $place, $place, $row_bytes
        add     $row_dy, $dy, $place
        ldz16step $place, $mzero, $places+=, 1
.endm
// The next row, if there is one. Behind the places of a row stands the number of the next one.
.macro NEXT_ROW LABEL
        brneg   $left, .Lend
        ldz16step $more, $mzero, $places+=, 1
        min     $more, $more, $left
        sub     $left, $left, $more
        add     $left, $left, -1
        bri     \LABEL
.endm

.macro START
        ld32    $m8, $m0, 9
        ld32    $m5, $m0, 8
        ld32    $m6, $m0, 3
        ld32    $m7, $m0, 10
        shl     $m5, $m5, VALUE_SHIFT
        st32    $m6, $m8, $mzero, SCRATCH_X
        st32    $m7, $m8, $mzero, SCRATCH_DY
        st32    $m5, $m8, $mzero, SCRATCH_ROW_BYTES
        shr     $m5, $m5, 3
        add     $m5, $m5, -1
        st32    $m5, $m8, $mzero, SCRATCH_MORE
.endm
.macro OWN
        ld32    $m5, $m0, 9
        setzi   $m7, .Lworker
        st32    $m3, $m5, $mzero, SCRATCH_METADATA
        st32    $m4, $m5, $mzero, SCRATCH_OUT
        runall  $m7, $m5, 0
        sync    TEXCH_SYNCZONE_LOCAL
.endm
        SCAN_BUCKETS TYPED(dynamic_elements_values) START OWN

        .worker
        .align 8
.Lworker:
        get     $entry, $WSR
        { and   $entry, $entry, CSR_W_WSR__CTXTID_M1__MASK ; setzi $a0, 1 << CSR_W_FP_CLR__ZAACC__SHIFT }
        { mul   $entry, $entry, LIST_BYTES ; uput $FP_CLR, $a0 }
        ld32    $metadata, $mvertex_base, $mzero, SCRATCH_METADATA
        add     $entry, $entry, $metadata
        ldz16   $left, $entry, $mzero, LIST_ELEMENTS
        brz     $left, .Lnothing
        ldz16   $more, $entry, $mzero, LIST_ROW_ELEMENTS
        sub     $left, $left, $more
        add     $left, $left, -1
        add     $more, $more, -1
        ldz16   $places, $entry, $mzero, LIST_PLACE_WORDS
        shl     $places, $places, 1
        add     $places, $places, $metadata
        ldz16   $place, $entry, $mzero, LIST_ROW_WORDS
        shl     $place, $place, 1
        ldz16   $place, $metadata, $place, 0
        ldz16   $row_dy, $entry, $mzero, LIST_BEFORE
        shl     $row_dy, $row_dy, 2
        ld32    $out, $mvertex_base, $mzero, SCRATCH_OUT
        add     $out, $out, $row_dy
        ld32    $x, $mvertex_base, $mzero, SCRATCH_X
        ld32    $dy, $mvertex_base, $mzero, SCRATCH_DY
        ld32    $row_bytes, $mvertex_base, $mzero, SCRATCH_ROW_BYTES
        add     $out_in, $row_bytes, -16
        brz     $out_in, .Lone_group
        ld32    $out_in, $mvertex_base, $mzero, SCRATCH_MORE
#define more_words out_in
        .align 8
.Lrow: // three words, and three more up to the repeated bundle
        ROW
.Lelement:
        add     $place, $place, $x
        tapack  $addresses, $place, $row_dy, $mzero
        ld2x64pace $a0:1, $a2:3, $addresses+=, $mzero, 0
        { rpt   $more_words, 0 ; fnop }
        { ld2x64pace $a0:1, $a2:3, $addresses+=, $mzero, 0 ; MAC $a0:1, $a2:3 }
        { ld32  $a4, $out, $mzero, 0 ; MAC $a0:1, $a2:3 }
        { ldz16step $place, $mzero, $places+=, 1 ; f32v2gina $a6:7, $azeros, 0 }
        f32add  $a6, $a6, $a7
        f32add  $a6, $a6, $a4
        st32step $a6, $mzero, $out+=, 1
        brnzdec $more, .Lelement
        NEXT_ROW .Lrow
#undef more_words

// The row of dY stays in registers. A partial is stored while the next element is multiplied.
.Lone_group:
        mov     $out_in, $out
        .align 8
.Lrow_of_one:
        ROW
        ld64    $a4:5, $row_dy, $mzero, 0
        { ld64  $a0:1, $x, $place, 1 ; fnop }
        { ld64  $a6:7, $row_dy, $mzero, 1 ; fnop }
        { ldd16a64 $a0:1, $places++, $x, $place@ ; MAC $a0:1, $a6:7 }
        MAC     $a0:1, $a4:5
        f32v2gina $a2:3, $azeros, 0
        { rpt   $more, (2f - 1f) / 8 - 1 ; fnop }
1:
        { ld64  $a0:1, $x, $place, 1 ; f32add $a2, $a2, $a3 }
        { ldd16a64 $a0:1, $places++, $x, $place@ ; MAC $a0:1, $a6:7 }
        { ld32step $a3, $mzero, $out_in+=, 1 ; MAC $a0:1, $a4:5 }
        { nop   ; f32add $a3, $a2, $a3 }
        { st32step $a3, $mzero, $out+=, 1 ; f32v2gina $a2:3, $azeros, 0 }
2:
        { ld32step $a4, $mzero, $out_in+=, 1 ; f32add $a2, $a2, $a3 }
        f32add  $a2, $a2, $a4
        st32step $a2, $mzero, $out+=, 1
        NEXT_ROW .Lrow_of_one
.Lend:
        exitz   $mzero
.Lnothing:
        exitz   $mzero
