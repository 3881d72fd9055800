// SPDX-License-Identifier: MIT
// Element-sparse times dense, pattern known when planning: FP16 data with partial rows of FP16 or FP32 (spmm_elementwise_f16.S,
// spmm_elementwise_f32.S), or FP32 data and rows (spmm_elementwise_single.S). A worker has some consecutive rows and some
// consecutive groups of columns, 16 bytes of B each, and runs through its rows once for every group; 3 bundles a non-zero:
// products are rounded to the data's type and added up in FP32.
//
// Vertex spmm_elementwise_p (multi worker; p: f16, f32, single). State, words:
//     0 step          row bytes of out / 8, less 1, or 3 (f32)
//     1 + 7 w         worker w: deltas, values, counts, out, rows - 1 (-1: no rows), x, column groups - 1
//   x: [row of the tile's slice][columns] data, region 1, 8-byte aligned, from the worker's first column on; columns is a
//   multiple of 8 (FP16) or 4. deltas: 16-bit byte offsets of the non-zeros' rows from x, one more is read; values: data, one
//   more is read; counts: non-zeros - 1 of each row, 16 bits, one more is read; every row has a non-zero. deltas, values and
//   counts are not in the memory elements of x. out: [row][columns] partials, 8-byte aligned, from the worker's first row and
//   column on.
// Timing, worker issues: 11, and for each column group 12 + sum over rows of (3 non-zeros + 6 (f16), 7 (f32) or 5); 7 without rows.
// Source: docs/evidence.md#instruction-set (delta-list loads, accumulator instructions).

#include "partials.inc"

#define table m0
#define out m1
#define x m2
#define groups m3
#define step m4
#define group_out m5
#define deltas m6
#define values m7
#define counts m8
#define rows m9
#define delta m10
#define more m11
#define value a0
#define x_lo a4:5
#define x_hi a6:7
#define products a4:7

#if DATA_BITS == 16
#define VALUE $value:BL
#define LOAD_VALUE ldb16step $value, $mzero, $values+=, 1
#define MUL f16v4mul
#define PRODUCTS_ACC f16v8acc
#define GROUP_COLUMNS 8
#else
#define VALUE $value:B
#define LOAD_VALUE ld32step $value, $mzero, $values+=, 1
#define MUL f32v2mul
#define PRODUCTS_ACC f32v4acc
#define GROUP_COLUMNS 4
#endif

// The sums leave the accumulators, all but the last word of them for memory, and the next row's length comes.
.macro END_ROW BRANCH:vararg
#if DATA_BITS == 32
        { ldz16step $more, $mzero, $counts+=, 1 ; f32v2gina $a2:3, $azeros, 0 }
        { st64step $a2:3, $mzero, $out+=, 1 ; f32v2gina $a2:3, $azeros, 0 }
        { \BRANCH ; fnop }
#elif PARTIAL_BITS == 16
        { ldz16step $more, $mzero, $counts+=, 1 ; f16v2gina $a2, $azero, 0 }
        { nop ; f16v2gina $a3, $azero, 0 }
        { st64step $a2:3, $mzero, $out+=, 1 ; f16v2gina $a2, $azero, 0 }
        { \BRANCH ; f16v2gina $a3, $azero, 0 }
#else
        { ldz16step $more, $mzero, $counts+=, 1 ; f32v2gina $a2:3, $azeros, 0 }
.rept 3
        { st64step $a2:3, $mzero, $out+=, 1 ; f32v2gina $a2:3, $azeros, 0 }
.endr
        { \BRANCH ; fnop }
#endif
.endm

        .section .text.TYPED(spmm_elementwise), "ax"
        .worker
        .align 8
        .globl TYPED(spmm_elementwise)
TYPED(spmm_elementwise):
        get     $table, $WSR
        { and   $table, $table, CSR_W_WSR__CTXTID_M1__MASK ; setzi $a1, 1 << CSR_W_FP_CLR__ZAACC__SHIFT }
        { mul   $table, $table, 28 ; uput $FP_CLR, $a1 }
        add     $table, $table, $mvertex_base
        ld32    $rows, $table, $mzero, 5
        brneg   $rows, .Ldone
.Lsome_rows:
        ld32    $x, $table, $mzero, 6
        ld32    $groups, $table, $mzero, 7
        ld32    $step, $mvertex_base, $mzero, 0
        ld32    $group_out, $table, $mzero, 4
.Lgroup:
        ld32    $deltas, $table, $mzero, 1
        ld32    $values, $table, $mzero, 2
        ld32    $counts, $table, $mzero, 3
        ld32    $rows, $table, $mzero, 5
        ldz16step $delta, $mzero, $deltas+=, 1
        { ldz16step $more, $mzero, $counts+=, 1 ; fnop }
        { LOAD_VALUE ; fnop }
        { mov   $out, $group_out ; fnop }
// The first row; the rows behind it do the same and store what is left of the row before.
.Lfirst_row:
        ld64    $x_hi, $x, $delta, 1
        { ldd16a64 $x_lo, $deltas++, $x, $delta@ ; MUL $x_hi, VALUE, $x_hi }
        { LOAD_VALUE ; MUL $x_lo, VALUE, $x_lo }
        { rpt   $more, 2 ; fnop }
.Lnon_zero_of_first_row:
        { ld64  $x_hi, $x, $delta, 1 ; PRODUCTS_ACC $products }
        { ldd16a64 $x_lo, $deltas++, $x, $delta@ ; MUL $x_hi, VALUE, $x_hi }
        { LOAD_VALUE ; MUL $x_lo, VALUE, $x_lo }
.Lend_first_row:
        { add   $rows, $rows, -1 ; PRODUCTS_ACC $products }
        END_ROW brneg $rows, .Llast
.Lrow:
        { ld64  $x_hi, $x, $delta, 1 ; fnop }
        { ldd16a64 $x_lo, $deltas++, $x, $delta@ ; MUL $x_hi, VALUE, $x_hi }
        { LOAD_VALUE ; MUL $x_lo, VALUE, $x_lo }
        { rpt   $more, 2 ; fnop }
.Lnon_zero:
        { ld64  $x_hi, $x, $delta, 1 ; PRODUCTS_ACC $products }
        { ldd16a64 $x_lo, $deltas++, $x, $delta@ ; MUL $x_hi, VALUE, $x_hi }
        { LOAD_VALUE ; MUL $x_lo, VALUE, $x_lo }
.Lend_row:
        { st64step $a2:3, $mzero, $out+=, $step ; PRODUCTS_ACC $products }
        END_ROW brnzdec $rows, .Lrow
.Llast:
        st64step $a2:3, $mzero, $out+=, $step
        add     $x, $x, 16
        add     $group_out, $group_out, GROUP_COLUMNS * PARTIAL_BITS / 8
        brnzdec $groups, .Lgroup
.Ldone:
        exitz   $mzero
