// SPDX-License-Identifier: MIT
// Gradient of the dense operand of a product of dynamic_elements.S, by the same buckets: out = transposed W * dense
// (dynamic_elements_input_f16.S, dynamic_elements_input_f32.S, dynamic_elements_input_single.S). Products and sums are rounded to the type of
// the partials, products of FP16 data to FP16 before.
//
// Vertex dynamic_elements_input_p (supervisor; p: f16, f32, single). State: dynamic_elements.inc.
//     0 out        [column of the part][column]
//     3 dense      [row of the part][column]
// Workers share the non-zeros of a row, one takes each CTXT_WORKERS-th: no two add to the same row of out. The supervisor launches them
// for each row, as the next one may have the same columns. Nothing is read beyond a buffer.
// Timing: about 200 cycles; a row 119, 84 where some workers have an element more than others, as the supervisor prepares the next row in
// the slots of those that are done; and issues of the worker with most elements, each with g groups of 16 bytes of dense:
//     10 g + 5 (f32), 6 g + 4; a last group of 8 bytes takes 6 or 4, alone 11 or 8
// Source: docs/published_plans.md#dynamic-sparse-products (the transposed vertex).

#include "partials.inc"
#include "dynamic_elements.inc"
#include "poplar/TileConstants.hpp"

// words of the scratch: of a row
#define SCRATCH_ROW 0           // its metadata
#define SCRATCH_TO_VALUE 1      // see below
#define SCRATCH_DENSE 2
#define SCRATCH_MORE 3          // non-zeros behind the first
// and what does not change from row to row
#define SCRATCH_ROW_BYTES 4     // of dense
#define SCRATCH_ALL_DENSE 5
#define SCRATCH_KEPT 6          // registers of the supervisor

#define ROW_HEADER_BYTES 4
#if DATA_BITS == 16
#define TO_NEXT_ROW -ROW_HEADER_BYTES
#else
#define TO_NEXT_ROW -ROW_HEADER_BYTES / 2
#endif
// quotients of numbers up to 8192
#define RECIPROCAL_SHIFT 18
#define RECIPROCAL (((1 << RECIPROCAL_SHIFT) + CTXT_WORKERS - 1) / CTXT_WORKERS)

// kept from launch to launch
#define out m0
#define out_last m1     // the last 8 bytes of the first group
#define index m2
#define first_place m3  // bytes from the row's metadata
#define back m4         // 8-byte words of dense from behind the last group to the second ones of the first
#define groups m5       // before the last one
// of a row
#define deltas m6
#define to_value m7     // from a place in the metadata to its value: bytes (FP16), or words from twice the place
#define dense m8
#define left m9
#define place m10       // of a group in out
#define x m11           // in dense; behind its first 8 bytes between two non-zeros

#define value a0
#define product a2:3
#define other a4:5      // sums (f32), or products of the second 8 bytes
#define partial a6:7

#if PARTIAL_BITS == DATA_BITS
#if DATA_BITS == 16
#define ADD f16v4add
#else
#define ADD f32v2add
#endif
#define GROUP_WORDS_OUT 2
#else
#define GROUP_WORDS_OUT 4
#endif

// A group, but for what its last store needs. `product` is of its first 8 bytes.
.macro GROUP STEP=1
#if PARTIAL_BITS == DATA_BITS
        { ld64  $partial, $out, $place, 0 ; fnop }
        { ld64step $other, $dense, $x+=, \STEP ; ADD $product, $product, $partial }
        { st64  $product, $out, $place, 0 ; MUL $other, VALUE, $other }
        { ld64  $partial, $out, $place, 1 ; fnop }
#else
        { ld64  $partial, $out, $place, 0 ; f16v2tof32 $other, $a2 }
        { ld64  $partial, $out, $place, 1 ; f32v2add $other, $other, $partial }
        { st64  $other, $out, $place, 0 ; f16v2tof32 $other, $a3 }
        { ld64step $product, $dense, $x+=, \STEP ; f32v2add $other, $other, $partial }
        { st64  $other, $out, $place, 1 ; MUL $product, VALUE, $product }
        { ld64  $partial, $out, $place, 2 ; f16v2tof32 $other, $a2 }
        { ld64  $partial, $out, $place, 3 ; f32v2add $other, $other, $partial }
        { st64  $other, $out, $place, 2 ; f16v2tof32 $other, $a3 }
#endif
.endm
.macro LAST_GROUP
        GROUP   $back
.endm
.macro LAST_SUM MAIN:vararg
#if PARTIAL_BITS == DATA_BITS
        { \MAIN ; ADD $other, $other, $partial }
#else
        { \MAIN ; f32v2add $other, $other, $partial }
#endif
.endm
.macro STORE_GROUP
        st64    $other, $out, $place, GROUP_WORDS_OUT - 1
.endm

.macro HALF_GROUP
#if PARTIAL_BITS == DATA_BITS
        { ld64  $partial, $out, $place, 0 ; fnop }
#else
        { ld64  $partial, $out, $place, 0 ; f16v2tof32 $other, $a2 }
        { ld64  $partial, $out, $place, 1 ; f32v2add $other, $other, $partial }
        { st64  $other, $out, $place, 0 ; f16v2tof32 $other, $a3 }
#endif
.endm
.macro LAST_HALF_SUM MAIN:vararg
#if PARTIAL_BITS == DATA_BITS
        { \MAIN ; ADD $product, $product, $partial }
#else
        LAST_SUM \MAIN
#endif
.endm
.macro STORE_HALF_GROUP
#if PARTIAL_BITS == DATA_BITS
        st64    $product, $out, $place, 0
#else
        st64    $other, $out, $place, 1
#endif
.endm

.macro NO_RESET
.endm
.macro RESET
        { setzi $x, 8 ; fnop }
.endm

// A value lies where the pointer of its place says.
.macro LOAD_VALUE
#if DATA_BITS == 16
        ldb16   $value, $deltas, $to_value, 0
#else
        ld32    $value, $deltas, $deltas, $to_value
#endif
.endm

// A worker's share of a row. The first instructions are as many bytes as put the repeated bundles in place.
.macro ROW NAME RESET LAST LAST_SUM STORE
        .align 8
.Lrow_\NAME:
        ld32    $left, $mvertex_base, $mzero, SCRATCH_MORE
        sub     $left, $left, $index
        brneg   $left, .Lnothing_\NAME
        setzi   $place, RECIPROCAL
        mul     $left, $left, $place
        shr     $left, $left, RECIPROCAL_SHIFT
        ld32    $deltas, $mvertex_base, $mzero, SCRATCH_ROW
        add     $deltas, $deltas, $first_place
        ld32    $to_value, $mvertex_base, $mzero, SCRATCH_TO_VALUE
        ld32    $dense, $mvertex_base, $mzero, SCRATCH_DENSE
        bri     .Lnon_zero_\NAME
.Lnext_\NAME:
        \STORE
.Lnon_zero_\NAME:
        LOAD_VALUE
        ldz16step $place, $mzero, $deltas+=, CTXT_WORKERS
#if PARTIAL_BITS != DATA_BITS
        shl     $place, $place, 1
        ld64    $product, $dense, $mzero, 0
#else
        { ld64  $product, $dense, $mzero, 0 ; fnop }
#endif
        \RESET
        { rpt   $groups, (2f - 1f) / 8 - 1 ; MUL $product, VALUE, $product }
1:
        GROUP
        LAST_SUM ld64step $product, $dense, $x+=, 1
        { st64step $other, $out_last, $place+=, GROUP_WORDS_OUT ; MUL $product, VALUE, $product }
2:
        \LAST
        \LAST_SUM brnzdec $left, .Lnext_\NAME
        \STORE
.Lnothing_\NAME:
        exitz   $mzero
.endm

.macro START
        setzi   $m5, .Lstart
        runall  $m5, $m0, 0
        ld32    $m5, $m0, 9
        ld32    $m6, $m0, 3
        ld32    $m7, $m0, 8
        st32    $m6, $m5, $mzero, SCRATCH_ALL_DENSE
        shl     $m7, $m7, VALUE_SHIFT
        st32    $m7, $m5, $mzero, SCRATCH_ROW_BYTES
        sync    TEXCH_SYNCZONE_LOCAL
.endm
// A row is prepared while workers have the one before.
.macro OWN
        ld32    $m5, $m0, 9
        ld32    $m6, $m0, 8
        ldz16   $m7, $m3, $mzero, GROUP_ROWS
        st32    $m0, $m5, $mzero, SCRATCH_KEPT
        st32    $m1, $m5, $mzero, SCRATCH_KEPT + 1
        st32    $m2, $m5, $mzero, SCRATCH_KEPT + 2
        st32    $m8, $m5, $mzero, SCRATCH_KEPT + 3
        mov     $m1, $m5
        and     $m6, $m6, GROUP_COLUMNS - 1
        setzi   $m2, .Lrow_whole
        ldz16   $m8, $m3, $mzero, GROUP_ROWS_LESS1
        shl     $m7, $m7, 1
        brz     $m6, .Lall_groups
        setzi   $m2, .Lrow_half
.Lall_groups:
        add     $m3, $m3, $m7
        add     $m7, $m3, ROW_HEADER_BYTES
        sub     $m4, $m4, $m7
#if DATA_BITS == 32
        sub     $m4, $m4, $m7
        shr     $m4, $m4, 2
#endif
        ld32    $m0, $m1, SCRATCH_ALL_DENSE
        bri     .Lprepare
.Lnext_row:
        shl     $m7, $m6, 1
        add     $m3, $m3, ROW_HEADER_BYTES + 2
        add     $m4, $m4, TO_NEXT_ROW
        add     $m3, $m3, $m7
.Lprepare:
        ldz16   $m5, $m3, $mzero, 0
        ldz16   $m6, $m3, $mzero, 1
        ld32    $m7, $m1, SCRATCH_ROW_BYTES
        mul     $m5, $m5, $m7
        add     $m5, $m5, $m0
        sync    TEXCH_SYNCZONE_LOCAL
        st32    $m3, $m1, $mzero, SCRATCH_ROW
        st32    $m4, $m1, $mzero, SCRATCH_TO_VALUE
        st32    $m5, $m1, $mzero, SCRATCH_DENSE
        st32    $m6, $m1, $mzero, SCRATCH_MORE
        runall  $m2, $m1, 0
        brnzdec $m8, .Lnext_row
        sync    TEXCH_SYNCZONE_LOCAL
        ld32    $m0, $m1, SCRATCH_KEPT
        ld32    $m2, $m1, SCRATCH_KEPT + 2
        ld32    $m8, $m1, SCRATCH_KEPT + 3
        ld32    $m1, $m1, SCRATCH_KEPT + 1
.endm
        SCAN_BUCKETS TYPED(dynamic_elements_input) START OWN

        .worker
        .align 8
.Lstart:
        get     $index, $WSR
        and     $index, $index, CSR_W_WSR__CTXTID_M1__MASK
        ld32    $out, $mvertex_base, $mzero, 0
        add     $out_last, $out, 8 * (GROUP_WORDS_OUT - 1)
        shl     $first_place, $index, 1
        add     $first_place, $first_place, ROW_HEADER_BYTES
        setzi   $x, 8
        ld32    $groups, $mvertex_base, $mzero, 8
        add     $groups, $groups, -1
        shr     $groups, $groups, GROUP_SHIFT
        mul     $back, $groups, -2
        exitz   $mzero

        ROW     whole NO_RESET LAST_GROUP LAST_SUM STORE_GROUP
        ROW     half RESET HALF_GROUP LAST_HALF_SUM STORE_HALF_GROUP
