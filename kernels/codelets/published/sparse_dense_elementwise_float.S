// SPDX-License-Identifier: MIT
// Element-sparse times dense in FP32, pattern known when compiling. Workers share the rows; four columns at once. State and lists:
// sparse_dense_elementwise.h.
//
//   StaticSparseDenseElementWise_float_float
//
// Columns: a multiple of 2; 2 and 4 of them have loops of their own.
// Timing, worker issues: a row of z non-zeros takes 2 z + 4 (2 columns), 3 z + 5 (4), or 11 and for each 4 columns 3 z + 9 and for 2 that are
// left 2 z + 6.
#ifdef __IPU__

#include "sparse_dense_elementwise.h"

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"

#define value a0
#define x_lo a4:5
#define x_hi a6:7
#define products a4:7
#define drained a2:3

.macro DOT AFTER:vararg
    { ld64      $x_hi, $dense, $delta, 1 ; fnop }
    { ldd16a64  $x_lo, $deltas++, $dense, $delta@ ; f32v2mul $x_hi, $value:B, $x_hi }
    { ld32step  $value, $mzero, $values+=, 1 ; f32v2mul $x_lo, $value:B, $x_lo }
    { rpt       $more, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld64      $x_hi, $dense, $delta, 1 ; f32v4acc $products }
    { ldd16a64  $x_lo, $deltas++, $dense, $delta@ ; f32v2mul $x_hi, $value:B, $x_hi }
    { ld32step  $value, $mzero, $values+=, 1 ; f32v2mul $x_lo, $value:B, $x_lo }
2:
    { \AFTER ; f32v4acc $products }
.endm

// Two columns; the upper two products are zero. What the main lane does in the last bundle: AFTER.
.macro DOT_TWO AFTER:vararg
    { ldd16a64  $x_lo, $deltas++, $dense, $delta@ ; fnop }
    { ld32step  $value, $mzero, $values+=, 1 ; f32v2mul $x_lo, $value:B, $x_lo }
    { rpt       $more, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ldd16a64  $x_lo, $deltas++, $dense, $delta@ ; f32v4acc $products }
    { ld32step  $value, $mzero, $values+=, 1 ; f32v2mul $x_lo, $value:B, $x_lo }
2:
    { \AFTER ; f32v4acc $products }
.endm
.macro NO_UPPER_PRODUCTS
    { ldz16step $delta, $mzero, $deltas+=, 1 ; f32v2mul $x_hi, $azeros, $azeros }
.endm

// All rows by four columns at a time; LEFT is whether two are left.
.macro ROWS_OF_FOURS LEFT
    .align 8
.Lrow_\LEFT:
    { ldz16step $more, $mzero, $counts+=, 1 ; fnop }
    { mov       $groups, $groups_m1 ; fnop }
.Lgroup_\LEFT:
    { ldz16step $delta, $mzero, $deltas+=, 1 ; fnop }
    { ld32step  $value, $mzero, $values+=, 1 ; fnop }
    DOT add     $dense, $dense, 16
    { mov       $deltas, $row_deltas ; f32v2gina $drained, $azeros, 0 }
    { st64step  $drained, $mzero, $out+=, 1 ; f32v2gina $drained, $azeros, 0 }
    { st64step  $drained, $mzero, $out+=, 1 ; fnop }
    { mov       $values, $row_values ; fnop }
    { brnzdec   $groups, .Lgroup_\LEFT ; fnop }
.ifc \LEFT,two_left
    NO_UPPER_PRODUCTS
    { ld32step  $value, $mzero, $values+=, 1 ; fnop }
    DOT_TWO nop
    { nop ; f32v2gina $drained, $azeros, 0 }
    { st64step  $drained, $mzero, $out+=, 1 ; fnop }
.endif
    // on to the next row's lists; the dense operand starts again
    add         $more, $more, 1
    shl         $more, $more, 1
    add         $row_deltas, $row_deltas, $more
    shl         $more, $more, 1
    add         $row_values, $row_values, $more
    mov         $deltas, $row_deltas
    mov         $values, $row_values
    ld32        $dense, $mvertex_base, VERTEX_DENSE
    brnzdec     $rows_m1, .Lrow_\LEFT
    bri         .Ldone
.endm

DEF_STACK_USAGE 0 .text.StaticSparseDenseElementWise_float_float
    .section .text.StaticSparseDenseElementWise_float_float, FUNCTION_IS_WORKER
    .globl StaticSparseDenseElementWise_float_float
    .type StaticSparseDenseElementWise_float_float, @function
    .worker
    .align 8
StaticSparseDenseElementWise_float_float:
    ELEMENTWISE_BEGIN log2_float log2_float .Ldone
    cmpeq       $more, $groups, 4
    brnz        $more, .Lcolumns_4
    shr         $groups_m1, $groups, 2
    brz         $groups_m1, .Lcolumns_2
    add         $groups_m1, $groups_m1, -1
    mov         $row_deltas, $deltas
    mov         $row_values, $values
    and         $groups, $groups, 2
    brnz        $groups, .Lrow_two_left
    ROWS_OF_FOURS none_left
    ROWS_OF_FOURS two_left

    .align 8
.Lcolumns_2:
    NO_UPPER_PRODUCTS
    { ld32step  $value, $mzero, $values+=, 1 ; fnop }
    { ldz16step $more, $mzero, $counts+=, 1 ; fnop }
    DOT_TWO ldz16step $more, $mzero, $counts+=, 1
    { nop ; f32v2gina $drained, $azeros, 0 }
    { brnzdec   $rows_m1, .Lrow_2 ; fnop }
    bri         .Llast_2
    .align 8
.Lrow_2:
    // a row is stored beside the next row's last sum
    DOT_TWO st64step $drained, $mzero, $out+=, 1
    { ldz16step $more, $mzero, $counts+=, 1 ; f32v2gina $drained, $azeros, 0 }
    brnzdec     $rows_m1, .Lrow_2
.Llast_2:
    st64step    $drained, $mzero, $out+=, 1
    bri         .Ldone

    .align 8
.Lcolumns_4:
    ldz16step   $delta, $mzero, $deltas+=, 1
    ld32step    $value, $mzero, $values+=, 1
    ldz16step   $more, $mzero, $counts+=, 1
    .align 8
    DOT ldz16step $more, $mzero, $counts+=, 1
    { nop ; f32v2gina $drained, $azeros, 0 }
    { st64step  $drained, $mzero, $out+=, 1 ; f32v2gina $drained, $azeros, 0 }
    brnzdec     $rows_m1, .Lrow_4
    bri         .Llast
    .align 8
.Lrow_4:
    // the second half of a row is stored beside the next row's first sums
    DOT st64step $drained, $mzero, $out+=, 1
    { ldz16step $more, $mzero, $counts+=, 1 ; f32v2gina $drained, $azeros, 0 }
    { st64step  $drained, $mzero, $out+=, 1 ; f32v2gina $drained, $azeros, 0 }
    brnzdec     $rows_m1, .Lrow_4
.Llast:
    st64step    $drained, $mzero, $out+=, 1
.Ldone:
    exitz       $mzero
    .size StaticSparseDenseElementWise_float_float, . - StaticSparseDenseElementWise_float_float

#endif
