// SPDX-License-Identifier: MIT
// Element-sparse times dense, pattern known when compiling, FP16 inputs; products are rounded to FP16 and added up in FP32. Workers
// share the rows. State and lists: sparse_dense_elementwise.h.
//
//   StaticSparseDenseElementWise_half_half, _half_float (named input_output)
//
// Columns: a multiple of 4; 4 and 8 have loops of their own.
// Timing, worker issues: a row of z non-zeros takes 2 z + 4 (4 columns), 3 z + 6 (8 columns) or 10 and for each 8 columns 3 z + 11,
// for 4 more columns 2 z + 7. FP32 outputs take one more with 4 and 8 columns.
#ifdef __IPU__

#include "sparse_dense_elementwise.h"

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"

#define value a0
#define x_lo a4:5
#define x_hi a6:7
#define products_8 a4:7
#define products_4 a4:5
#define drained a2:3
#define drained_0 a2
#define drained_1 a3

// The first non-zero of a row and the loop over the others; AFTER is done beside the last sum.
.macro DOT_8 AFTER:vararg
    { ld64      $x_hi, $dense, $delta, 1 ; fnop }
    { ldd16a64  $x_lo, $deltas++, $dense, $delta@ ; f16v4mul $x_hi, $value:BL, $x_hi }
    { ldb16step $value, $mzero, $values+=, 1 ; f16v4mul $x_lo, $value:BL, $x_lo }
    { rpt       $more, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld64      $x_hi, $dense, $delta, 1 ; f16v8acc $products_8 }
    { ldd16a64  $x_lo, $deltas++, $dense, $delta@ ; f16v4mul $x_hi, $value:BL, $x_hi }
    { ldb16step $value, $mzero, $values+=, 1 ; f16v4mul $x_lo, $value:BL, $x_lo }
2:
    { \AFTER ; f16v8acc $products_8 }
.endm

.macro DOT_4 AFTER:vararg
    { ldd16a64  $x_lo, $deltas++, $dense, $delta@ ; fnop }
    { ldb16step $value, $mzero, $values+=, 1 ; f16v4mul $x_lo, $value:BL, $x_lo }
    { rpt       $more, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ldd16a64  $x_lo, $deltas++, $dense, $delta@ ; f16v4acc $products_4 }
    { ldb16step $value, $mzero, $values+=, 1 ; f16v4mul $x_lo, $value:BL, $x_lo }
2:
    { \AFTER ; f16v4acc $products_4 }
.endm

// Eight sums of a row leave and are stored, between two groups of columns.
.macro END_GROUP_half
    { mov       $deltas, $row_deltas ; f16v2gina $drained_0, $azero, 0 }
    { nop ; f16v2gina $drained_1, $azero, 0 }
    { st64step  $drained, $mzero, $out+=, 1 ; f16v2gina $drained_0, $azero, 0 }
    { nop ; f16v2gina $drained_1, $azero, 0 }
    { st64step  $drained, $mzero, $out+=, 1 ; fnop }
    { mov       $values, $row_values ; fnop }
.endm
.macro END_GROUP_float
    { mov       $deltas, $row_deltas ; f32v2gina $drained, $azeros, 0 }
    { st64step  $drained, $mzero, $out+=, 1 ; f32v2gina $drained, $azeros, 0 }
    { st64step  $drained, $mzero, $out+=, 1 ; f32v2gina $drained, $azeros, 0 }
    { st64step  $drained, $mzero, $out+=, 1 ; f32v2gina $drained, $azeros, 0 }
    { st64step  $drained, $mzero, $out+=, 1 ; fnop }
    { mov       $values, $row_values ; fnop }
.endm

// The same between two rows: what left last is stored beside the next row's first, BEFORE is nop for the first row.
.macro END_ROW_8_half BEFORE:vararg
    { \BEFORE ; f16v2gina $drained_0, $azero, 0 }
    { nop ; f16v2gina $drained_1, $azero, 0 }
    { st64step  $drained, $mzero, $out+=, 1 ; f16v2gina $drained_0, $azero, 0 }
    { brnzdec   $rows_m1, .Lrow_8_half ; f16v2gina $drained_1, $azero, 0 }
.endm
.macro END_ROW_8_float BEFORE:vararg
    { \BEFORE ; f32v2gina $drained, $azeros, 0 }
    { st64step  $drained, $mzero, $out+=, 1 ; f32v2gina $drained, $azeros, 0 }
    { st64step  $drained, $mzero, $out+=, 1 ; f32v2gina $drained, $azeros, 0 }
    { st64step  $drained, $mzero, $out+=, 1 ; f32v2gina $drained, $azeros, 0 }
    { brnzdec   $rows_m1, .Lrow_8_float ; fnop }
.endm
.macro END_ROW_4_half BEFORE:vararg
    { \BEFORE ; f16v2gina $drained_0, $azero, 0 }
    { brnzdec   $rows_m1, .Lrow_4_half ; f16v2gina $drained_1, $azero, 0 }
.endm
.macro END_ROW_4_float BEFORE:vararg
    { \BEFORE ; f32v2gina $drained, $azeros, 0 }
    { st64step  $drained, $mzero, $out+=, 1 ; f32v2gina $drained, $azeros, 0 }
    { brnzdec   $rows_m1, .Lrow_4_float ; fnop }
.endm

// All rows of a worker, COLUMNS (4 or 8) of them at once: lists and values run on from row to row.
.macro ROWS COLUMNS OUT
    ldz16step   $delta, $mzero, $deltas+=, 1
    ldb16step   $value, $mzero, $values+=, 1
    ldz16step   $more, $mzero, $counts+=, 1
    .align 8
    DOT_\COLUMNS ldz16step $more, $mzero, $counts+=, 1
    END_ROW_\COLUMNS\()_\OUT nop
    bri         .Llast_\OUT
    .align 8
.Lrow_\COLUMNS\()_\OUT:
    DOT_\COLUMNS ldz16step $more, $mzero, $counts+=, 1
    END_ROW_\COLUMNS\()_\OUT st64step $drained, $mzero, $out+=, 1
    bri         .Llast_\OUT
.endm

// What is left of a row behind its eights: nothing, or four columns more.
.macro REST_nothing OUT
.endm
.macro REST_and_4 OUT
    { ldz16step $delta, $mzero, $deltas+=, 1 ; fnop }
    { ldb16step $value, $mzero, $values+=, 1 ; fnop }
    DOT_4 nop
    END_REST_\OUT
.endm
.macro END_REST_half
    { nop ; f16v2gina $drained_0, $azero, 0 }
    { nop ; f16v2gina $drained_1, $azero, 0 }
    { st64step  $drained, $mzero, $out+=, 1 ; fnop }
.endm
.macro END_REST_float
    { nop ; f32v2gina $drained, $azeros, 0 }
    { st64step  $drained, $mzero, $out+=, 1 ; f32v2gina $drained, $azeros, 0 }
    { st64step  $drained, $mzero, $out+=, 1 ; fnop }
.endm

// All rows of a worker in groups of eight columns and the REST.
.macro ROWS_OF_EIGHTS OUT REST
    .align 8
.Lrow_of_eights_\REST\()_\OUT:
    { ldz16step $more, $mzero, $counts+=, 1 ; fnop }
    { mov       $groups, $groups_m1 ; fnop }
.Lgroup_\REST\()_\OUT:
    { ldz16step $delta, $mzero, $deltas+=, 1 ; fnop }
    { ldb16step $value, $mzero, $values+=, 1 ; fnop }
    DOT_8 add $dense, $dense, 16
    END_GROUP_\OUT
    { brnzdec   $groups, .Lgroup_\REST\()_\OUT ; fnop }
    REST_\REST \OUT
    // on to the next row's lists; the dense operand starts again
    add         $more, $more, 1
    shl         $more, $more, 1
    add         $row_deltas, $row_deltas, $more
    add         $row_values, $row_values, $more
    mov         $deltas, $row_deltas
    mov         $values, $row_values
    ld32        $dense, $mvertex_base, VERTEX_DENSE
    brnzdec     $rows_m1, .Lrow_of_eights_\REST\()_\OUT
    bri         .Ldone_\OUT
.endm

.macro ELEMENTWISE OUT
DEF_STACK_USAGE 0 .text.StaticSparseDenseElementWise_half_\OUT
    .section .text.StaticSparseDenseElementWise_half_\OUT, FUNCTION_IS_WORKER
    .globl StaticSparseDenseElementWise_half_\OUT
    .type StaticSparseDenseElementWise_half_\OUT, @function
    .worker
    .align 8
StaticSparseDenseElementWise_half_\OUT:
    ELEMENTWISE_BEGIN log2_half log2_\OUT .Ldone_\OUT
    cmpeq       $more, $groups, 4
    brnz        $more, .Lcolumns_4_\OUT
    cmpeq       $more, $groups, 8
    brnz        $more, .Lcolumns_8_\OUT

    shr         $groups_m1, $groups, 3
    add         $groups_m1, $groups_m1, -1
    mov         $row_deltas, $deltas
    mov         $row_values, $values
    and         $groups, $groups, 4
    brnz        $groups, .Lrow_of_eights_and_4_\OUT
    ROWS_OF_EIGHTS \OUT nothing
    ROWS_OF_EIGHTS \OUT and_4
    .align 8
.Lcolumns_8_\OUT:
    ROWS 8 \OUT
.Lcolumns_4_\OUT:
    ROWS 4 \OUT
.Llast_\OUT:
    st64step    $drained, $mzero, $out+=, 1
.Ldone_\OUT:
    exitz       $mzero
    .size StaticSparseDenseElementWise_half_\OUT, . - StaticSparseDenseElementWise_half_\OUT
.endm

ELEMENTWISE half
ELEMENTWISE float

#endif
