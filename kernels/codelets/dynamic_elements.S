// SPDX-License-Identifier: MIT
// Element-sparse times dense, pattern in buckets that come at run time: FP16 data with partials of FP16 or FP32 (dynamic_elements_f16.S,
// dynamic_elements_f32.S), or FP32 (dynamic_elements_single.S). Products are rounded to the data's type and added up in FP32.
//
// Vertex dynamic_elements_p (supervisor; p: f16, f32, single). State, reads beyond buffers: dynamic_elements.inc.
//     0 out        [row of the part][column]
//     3 dense      [column of the part][column], in no memory element that metadata is in
//     9 scratch    8 words
// A word of 16 bits behind the metadata of the last bucket is read, and four bytes behind its values.
// A worker has the rectangle of rows and columns that its entry in the metadata says. It goes row by row through groups of columns, 16
// bytes of `dense` each; the last one may have 8 bytes.
// Timing, worker issues: 35 (37 single), 8 more with several groups, 8 without rows; and a row of z non-zeros takes, f16, f32, single:
//     one group          3 z + 13, 15, 11
//     half a group       2 z + 11, 12, 10
//     g groups           g (3 z + c) + 7, 8, 8 with c = 10, 13, 9
//     and half a one     2 z + 8, 8, 6 more
//
// Vertex dynamic_elements_indirect_p (f32, single; VALUE_PLACES). The same, but a value lies where the metadata say, so that the gradient of
// the dense operand can have rows of its own for values that lie in the order of the product's. A row is
//     {place of the first value, number, elements - 1, for each element: the place of its row of dense, that of the next element's value}
// where the last of these is the next row's first word, and behind the last row are two words more, 0 and any. Places of values are byte
// offsets in those of the sub-group. Metadata is in no memory element that values are in. The entries' first word is not used. Nothing is read
// beyond a buffer. A row takes an issue less, the start 4 (f32) or 6 less.
// Source: docs/published_plans.md#dynamic-sparse-products (loop structure), docs/evidence.md#instruction-set (delta-list loads).

#include "partials.inc"
#include "dynamic_elements.inc"
#include "poplar/TileConstants.hpp"

// words of the scratch
#define SCRATCH_METADATA 0      // of the sub-group
#define SCRATCH_VALUES 1
#define SCRATCH_OUT 2
#define SCRATCH_DENSE 3
#define SCRATCH_ROW_BYTES 4     // of out

#define out m0
#define deltas m1       // of the row: its length, then byte offsets in dense, then the next row's number
#define to_value m2     // from `deltas` to the value behind: bytes (FP16), or words from twice `deltas`
#define rows m3
#define row_bytes m4    // with one group
#define row_groups m4   // with several, behind the first
#define row_out m5
#define dense m6
#define delta m7
#define more m8         // non-zeros of the row behind the first
#define groups m9       // behind this one
#define row_deltas m10
#define first_dense m11
// before the first row
#define values m2
#define temp m8
#define index m10
#define entry m11

#define value a0
#define first_value a1  // of the row
#define x_lo a4:5
#define x_hi a6:7
#define products a4:7

#if DATA_BITS == 16
#define FIRST_VALUE $first_value:BL
#else
#define FIRST_VALUE $first_value:B
#endif
#if VALUE_PLACES
#if DATA_BITS == 16
#define LOAD_VALUE ldd16b16 $value, $deltas++, $values, $delta@
#else
#define LOAD_VALUE ldd16a32 $value, $deltas++, $values, $delta@
#endif
#define VERTEX TYPED(dynamic_elements_indirect)
#else
// Offsets and values of a row go on together: one pointer is for both. A row's number and length lie between those of two rows.
#if DATA_BITS == 16
#define LOAD_VALUE ldb16 $value, $deltas, $to_value, 0
#define TO_NEXT_ROW -4
#else
#define LOAD_VALUE ld32 $value, $deltas, $deltas, $to_value
#define TO_NEXT_ROW -2
#endif
#define VERTEX TYPED(dynamic_elements)
#endif

.macro VALUES_OF_NEXT_ROW
#if !VALUE_PLACES
        { add   $to_value, $to_value, TO_NEXT_ROW ; fnop }
#endif
.endm

// Columns of 16 bytes of `dense` of a row: partials enter, products are added to them.
.macro GROUP
#if PARTIAL_BITS == 16
        { ld64  $a6:7, $row_out, $mzero, 0 ; fnop }
        { ld64  $a4:5, $row_out, $mzero, 1 ; f16v2gina $azero, $a6, 0 }
        { ldz16step $delta, $mzero, $deltas+=, 1 ; f16v2gina $azero, $a7, 0 }
        { ld64  $x_hi, $dense, $delta, 1 ; f16v2gina $azero, $a4, 0 }
        { ldd16a64 $x_lo, $deltas++, $dense, $delta@ ; f16v2gina $azero, $a5, 0 }
#elif DATA_BITS == 16
        { ld64  $a6:7, $row_out, $mzero, 0 ; fnop }
        { ld64  $a4:5, $row_out, $mzero, 1 ; f32v2gina $azeros, $a6:7, 0 }
        { ld64  $a6:7, $row_out, $mzero, 2 ; f32v2gina $azeros, $a4:5, 0 }
        { ld64  $a4:5, $row_out, $mzero, 3 ; f32v2gina $azeros, $a6:7, 0 }
        { ldz16step $delta, $mzero, $deltas+=, 1 ; f32v2gina $azeros, $a4:5, 0 }
        { ld64  $x_hi, $dense, $delta, 1 ; fnop }
        { ldd16a64 $x_lo, $deltas++, $dense, $delta@ ; fnop }
#else
        { ld64  $a6:7, $row_out, $mzero, 0 ; fnop }
        { ld64  $a4:5, $row_out, $mzero, 1 ; f32v2gina $azeros, $a6:7, 0 }
        { ldz16step $delta, $mzero, $deltas+=, 1 ; f32v2gina $azeros, $a4:5, 0 }
        { ld64  $x_hi, $dense, $delta, 1 ; f32v2gina $azeros, $azeros, 0 }
        { ldd16a64 $x_lo, $deltas++, $dense, $delta@ ; f32v2gina $azeros, $azeros, 0 }
#endif
        { LOAD_VALUE ; MUL $x_hi, FIRST_VALUE, $x_hi }
        { rpt   $more, (2f - 1f) / 8 - 1 ; MUL $x_lo, FIRST_VALUE, $x_lo }
1:
        { ld64  $x_hi, $dense, $delta, 1 ; PRODUCTS_ACC $products }
        { ldd16a64 $x_lo, $deltas++, $dense, $delta@ ; MUL $x_hi, VALUE, $x_hi }
        { LOAD_VALUE ; MUL $x_lo, VALUE, $x_lo }
2:
.endm

// The same for columns of 8 bytes.
.macro HALF_GROUP
#if PARTIAL_BITS == 16
        { ld64  $a4:5, $row_out, $mzero, 0 ; or64 $x_hi, $azeros, $azeros }
        { ldz16step $delta, $mzero, $deltas+=, 1 ; f16v2gina $azero, $a4, 0 }
        { ldd16a64 $x_lo, $deltas++, $dense, $delta@ ; f16v2gina $azero, $a5, 0 }
        { nop   ; f16v2gina $azero, $azero, 0 }
        { LOAD_VALUE ; f16v2gina $azero, $azero, 0 }
#elif DATA_BITS == 16
        { ld64  $a6:7, $row_out, $mzero, 0 ; fnop }
        { ld64  $a4:5, $row_out, $mzero, 1 ; f32v2gina $azeros, $a6:7, 0 }
        { ldz16step $delta, $mzero, $deltas+=, 1 ; f32v2gina $azeros, $a4:5, 0 }
        { ldd16a64 $x_lo, $deltas++, $dense, $delta@ ; f32v2gina $azeros, $azeros, 0 }
        { nop   ; or64 $x_hi, $azeros, $azeros }
        { LOAD_VALUE ; f32v2gina $azeros, $azeros, 0 }
#else
        { ld64  $a4:5, $row_out, $mzero, 0 ; or64 $x_hi, $azeros, $azeros }
        { ldz16step $delta, $mzero, $deltas+=, 1 ; f32v2gina $azeros, $a4:5, 0 }
        { ldd16a64 $x_lo, $deltas++, $dense, $delta@ ; f32v2gina $azeros, $azeros, 0 }
        { nop   ; f32v2gina $azeros, $azeros, 0 }
        { LOAD_VALUE ; f32v2gina $azeros, $azeros, 0 }
#endif
        { rpt   $more, (2f - 1f) / 8 - 1 ; MUL $x_lo, FIRST_VALUE, $x_lo }
1:
        { ldd16a64 $x_lo, $deltas++, $dense, $delta@ ; PRODUCTS_ACC $products }
        { LOAD_VALUE ; MUL $x_lo, VALUE, $x_lo }
2:
.endm

// The last products are added; the sums leave and are stored. The first four take an instruction of the main lane.
.macro ADD_LAST MAIN:vararg
        { \MAIN ; PRODUCTS_ACC $products }
.endm
.macro LEAVE MAIN:vararg
#if PARTIAL_BITS == 16
        { \MAIN ; f16v2gina $a4, $azero, 0 }
#else
        { \MAIN ; f32v2gina $a4:5, $azeros, 0 }
#endif
.endm
.macro LEAVE_MORE MAIN:vararg
#if PARTIAL_BITS == 16
        { \MAIN ; f16v2gina $a5, $azero, 0 }
        { st64step $a4:5, $mzero, $row_out+=, 1 ; f16v2gina $a6, $azero, 0 }
#else
        { \MAIN ; fnop }
#endif
.endm
.macro STORE_GROUP_AND MAIN:vararg
#if PARTIAL_BITS == 16
        { \MAIN ; f16v2gina $a7, $azero, 0 }
        { st64step $a6:7, $mzero, $row_out+=, 1 ; fnop }
#else
        { \MAIN ; fnop }
        STORE_SUMS
#endif
.endm
.macro STORE_SUMS
        { st64step $a4:5, $mzero, $row_out+=, 1 ; f32v2gina $a6:7, $azeros, 0 }
#if DATA_BITS == 16
        { st64step $a6:7, $mzero, $row_out+=, 1 ; f32v2gina $a4:5, $azeros, 0 }
        { st64step $a4:5, $mzero, $row_out+=, 1 ; f32v2gina $a6:7, $azeros, 0 }
#endif
        { st64step $a6:7, $mzero, $row_out+=, 1 ; fnop }
.endm
.macro STORE_REST
#if PARTIAL_BITS == 16
        STORE_GROUP_AND nop
#else
        STORE_SUMS
#endif
.endm
.macro STORE_GROUP
#if PARTIAL_BITS == 16
        LEAVE_MORE nop
#endif
        STORE_REST
.endm

.macro STORE_HALF_GROUP
#if PARTIAL_BITS == 16
        { nop   ; f16v2gina $a5, $azero, 0 }
        { st64step $a4:5, $mzero, $row_out+=, 1 ; fnop }
#elif DATA_BITS == 16
        { st64step $a4:5, $mzero, $row_out+=, 1 ; f32v2gina $a6:7, $azeros, 0 }
        { st64step $a6:7, $mzero, $row_out+=, 1 ; fnop }
#else
        { st64step $a4:5, $mzero, $row_out+=, 1 ; fnop }
#endif
.endm

// A worker whose columns are one group, or half a one.
.macro SINGLE NAME COLUMNS STORE
        mul     $groups, $delta, $row_bytes
        ldz16step $more, $mzero, $deltas+=, 1
        { add   $row_out, $out, $groups ; mov $first_value, $value }
        VALUES_OF_NEXT_ROW
        add     $rows, $rows, -1
        .align 8
.Lrow_\NAME:
        \COLUMNS
        ADD_LAST mul $groups, $delta, $row_bytes
        LEAVE   ldz16step $more, $mzero, $deltas+=, 1
        \STORE
        { add   $row_out, $out, $groups ; mov $first_value, $value }
        VALUES_OF_NEXT_ROW
        { brnzdec $rows, .Lrow_\NAME ; fnop }
        exitz   $mzero
.endm

// The row at `deltas`, if there is one.
.macro NEXT_ROW NAME
        { add   $row_out, $out, $groups ; mov $first_value, $value }
        { mov   $row_deltas, $deltas ; fnop }
        VALUES_OF_NEXT_ROW
        { mov   $dense, $first_dense ; fnop }
        { mov   $groups, $row_groups ; fnop }
        { brnzdec $rows, .Lgroup_\NAME ; fnop }
        exitz   $mzero
.endm

// Several groups, and half a one if HALF.
.macro SEVERAL NAME HALF
        ld32    $groups, $mvertex_base, $mzero, SCRATCH_ROW_BYTES
        mul     $groups, $delta, $groups
        ldz16step $more, $mzero, $deltas+=, 1
        NEXT_ROW \NAME
        .align 8
.Lnext_group_\NAME:
        LEAVE_MORE mov $deltas, $row_deltas
        STORE_REST
.Lgroup_\NAME:
        GROUP
        ADD_LAST add $dense, $dense, 16
        LEAVE   brnzdec $groups, .Lnext_group_\NAME
.if \HALF
        LEAVE_MORE mov $deltas, $row_deltas
        STORE_REST
        HALF_GROUP
        { ld32  $groups, $mvertex_base, $mzero, SCRATCH_ROW_BYTES ; fnop }
        ADD_LAST mul $groups, $delta, $groups
        LEAVE   ldz16step $more, $mzero, $deltas+=, 1
        STORE_HALF_GROUP
.else
        { ld32  $groups, $mvertex_base, $mzero, SCRATCH_ROW_BYTES ; fnop }
        LEAVE_MORE mul $groups, $delta, $groups
        STORE_GROUP_AND ldz16step $more, $mzero, $deltas+=, 1
.endif
        NEXT_ROW \NAME
.endm

.macro START
        ld32    $m8, $m0, 9
        ld32    $m5, $m0, 0
        ld32    $m6, $m0, 3
        ld32    $m7, $m0, 8
        st32    $m5, $m8, $mzero, SCRATCH_OUT
        st32    $m6, $m8, $mzero, SCRATCH_DENSE
        shl     $m7, $m7, PARTIAL_SHIFT
        st32    $m7, $m8, $mzero, SCRATCH_ROW_BYTES
.endm
.macro OWN
        ld32    $m5, $m0, 9
        setzi   $m7, .Lworker
        st32    $m3, $m5, $mzero, SCRATCH_METADATA
        st32    $m4, $m5, $mzero, SCRATCH_VALUES
        runall  $m7, $m5, 0
        sync    TEXCH_SYNCZONE_LOCAL
.endm
        SCAN_BUCKETS VERTEX START OWN

        .worker
        .align 8
.Lworker:
        get     $index, $WSR
        { and   $index, $index, CSR_W_WSR__CTXTID_M1__MASK ; setzi $value, 1 << CSR_W_FP_CLR__ZAACC__SHIFT }
        { mul   $entry, $index, ENTRY_BYTES ; uput $FP_CLR, $value }
        ld32    $deltas, $mvertex_base, $mzero, SCRATCH_METADATA
        add     $entry, $entry, $deltas
        ldz16   $rows, $entry, $mzero, ENTRY_ROWS
        brz     $rows, .Lnothing
        ldz16   $temp, $entry, $mzero, ENTRY_ROWS_WORDS
        shl     $temp, $temp, 1
        add     $deltas, $deltas, $temp
        ld32    $values, $mvertex_base, $mzero, SCRATCH_VALUES
#if !VALUE_PLACES
        ldz16   $temp, $entry, $mzero, ENTRY_BLOCKS_BEFORE
        shl     $temp, $temp, VALUE_SHIFT
        add     $values, $values, $temp
#endif
        ldz16   $temp, $entry, $mzero, ENTRY_FIRST_COLUMN
        ld32    $dense, $mvertex_base, $mzero, SCRATCH_DENSE
        ld32    $out, $mvertex_base, $mzero, SCRATCH_OUT
        shl     $delta, $temp, VALUE_SHIFT
        add     $dense, $dense, $delta
        shl     $temp, $temp, PARTIAL_SHIFT
        add     $out, $out, $temp
        ldz16   $groups, $entry, $mzero, ENTRY_COLUMNS
        ld32    $row_bytes, $mvertex_base, $mzero, SCRATCH_ROW_BYTES
        ldz16step $delta, $mzero, $deltas+=, 1
#if VALUE_PLACES
        LOAD_VALUE
#elif DATA_BITS == 16
        ldb16   $value, $values, $mzero, 0
        sub     $to_value, $values, $deltas
#else
        ld32    $value, $values, $mzero, 0
        sub     $to_value, $values, $deltas
        sub     $to_value, $to_value, $deltas
        shr     $to_value, $to_value, 2
#endif
        add     $temp, $groups, -GROUP_COLUMNS
        brz     $temp, .Lone_group
        brneg   $temp, .Lhalf_group
        shr     $row_groups, $temp, GROUP_SHIFT
        mov     $first_dense, $dense
        and     $temp, $temp, GROUP_COLUMNS - 1
        brnz    $temp, .Lragged
        SEVERAL groups 0
.Lragged:
        SEVERAL ragged 1
.Lone_group:
        SINGLE one GROUP STORE_GROUP
.Lhalf_group:
        SINGLE half HALF_GROUP STORE_HALF_GROUP
.Lnothing:
        exitz   $mzero
