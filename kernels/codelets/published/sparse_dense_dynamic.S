// SPDX-License-Identifier: MIT
// Element-sparse times dense whose pattern comes at run time: buckets hold sub-groups of non-zeros, a tile works on those with its
// number and skips the others. Products are added to FP32 partials.
//
//   SparseDenseMatMulElementWise_half_float, _float_float (named input_partial)
//
// State: pointers (32 bits each) and 16-bit fields
//     0  out        [row][columns] partials, 8-byte aligned
//     4  metaInfo   table of pointers, one a bucket
//     8  values     table of pointers, one a bucket
//    12  dense      [row of the dense operand][columns], 8-byte aligned, in no memory element that values or metaInfo are in
//    16  columns: a multiple of 8    18 subGroup: number of this tile's, not 0    20 bucketsM1
// A bucket's metaInfo is a list of sub-groups of 16-bit words, then a zero. A sub-group is (docs/published_plans.md#buckets)
//     {its number, its x, its y, non-zeros, words to the next sub-group, rows - 1, lists, columns, words to its rows,
//      for each worker {non-zeros before its own, columns, first column, rows, words from the sub-group to its rows},
//      lists of the gradient of the values, if there are any,
//      rows: {row, non-zeros - 1, byte offset in `dense` of each non-zero's row}}
// A worker's columns are a multiple of 8 here. One value and one word of metaInfo beyond the last are read. Workers keep their place in
// the lists in their scratch.
// Timing, worker issues: a row of z non-zeros takes 18 and for each 8 columns 3 z + 15 (half), or 18 and for each 4 columns 3 z + 11.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"

#define VERTEX_OUT 0
#define VERTEX_META_INFO 1
#define VERTEX_VALUES 2
#define VERTEX_DENSE 3
#define VERTEX_COLUMNS 8
#define VERTEX_SUB_GROUP 9
#define VERTEX_BUCKETS_M1 10

#define SUB_GROUP_ID 0
#define SUB_GROUP_NON_ZEROS 3
#define SUB_GROUP_WORDS 4
#define SUB_GROUP_WORKERS 9
// and of a worker's entry there
#define WORKER_NON_ZEROS SUB_GROUP_WORKERS + 0
#define WORKER_COLUMNS SUB_GROUP_WORKERS + 1
#define WORKER_FIRST_COLUMN SUB_GROUP_WORKERS + 2
#define WORKER_ROWS SUB_GROUP_WORKERS + 3
#define WORKER_ROWS_WORDS SUB_GROUP_WORKERS + 4
#define WORKER_BYTES 10

// words of the worker's scratch
#define SCRATCH_GROUPS_M1 0
#define SCRATCH_META_TABLE 1
#define SCRATCH_VALUES_TABLE 2
#define SCRATCH_BUCKETS 3
#define SCRATCH_META_INFO 4
#define SCRATCH_VALUES 5
#define SCRATCH_OUT 6
#define SCRATCH_DENSE 7

#define ZAACC_BITMASK (CSR_W_FP_CLR__ZAACC__MASK << CSR_W_FP_CLR__ZAACC__SHIFT)

.equ value_shift_half, 1
.equ value_shift_float, 2
.equ columns_shift_half, 3
.equ columns_shift_float, 2

// while scanning
#define meta m0
#define values m1
#define id m2
#define wanted m3
#define scratch m4
#define entry m5
// while multiplying
#define out m0
#define row_values m1
#define rows m2
#define row_deltas m3
#define deltas m4
#define now_values m5
#define more m6
#define delta m7
#define groups m8
#define dense m9
#define temp m10

#define x a0
#define x_lo a4:5
#define x_hi a6:7
#define products_8 a4:7
#define even a2:3
#define odd a4:5

// One group of columns of a row: partials in, products, partials out.
.macro GROUP_half NAME
    { ld64      $even, $out, $mzero, 0 ; fnop }
    { ld64      $odd, $out, $mzero, 1 ; f32v2gina $azeros, $even, 0 }
    { ld64      $even, $out, $mzero, 2 ; f32v2gina $azeros, $odd, 0 }
    { ld64      $odd, $out, $mzero, 3 ; f32v2gina $azeros, $even, 0 }
    { ldz16step $delta, $mzero, $deltas+=, 1 ; f32v2gina $azeros, $odd, 0 }
    { ldb16step $x, $mzero, $now_values+=, 1 ; fnop }
    { ld64      $x_hi, $dense, $delta, 1 ; fnop }
    { ldd16a64  $x_lo, $deltas++, $dense, $delta@ ; f16v4mul $x_hi, $x:BL, $x_hi }
    { ldb16step $x, $mzero, $now_values+=, 1 ; f16v4mul $x_lo, $x:BL, $x_lo }
    { rpt       $more, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld64      $x_hi, $dense, $delta, 1 ; f16v8acc $products_8 }
    { ldd16a64  $x_lo, $deltas++, $dense, $delta@ ; f16v4mul $x_hi, $x:BL, $x_hi }
    { ldb16step $x, $mzero, $now_values+=, 1 ; f16v4mul $x_lo, $x:BL, $x_lo }
2:
    { add       $dense, $dense, 16 ; f16v8acc $products_8 }
    { mov       $deltas, $row_deltas ; f32v2gina $even, $azeros, 0 }
    { st64step  $even, $mzero, $out+=, 1 ; f32v2gina $even, $azeros, 0 }
    { st64step  $even, $mzero, $out+=, 1 ; f32v2gina $even, $azeros, 0 }
    { st64step  $even, $mzero, $out+=, 1 ; f32v2gina $even, $azeros, 0 }
    { st64step  $even, $mzero, $out+=, 1 ; fnop }
    { mov       $now_values, $row_values ; fnop }
    { brnzdec   $groups, .Lgroup_\NAME ; fnop }
.endm

// Four accumulators are used: two more steps bring the partials to them.
.macro GROUP_float NAME
    { ld64      $even, $out, $mzero, 0 ; fnop }
    { ld64      $odd, $out, $mzero, 1 ; f32v2gina $azeros, $even, 0 }
    { ldz16step $delta, $mzero, $deltas+=, 1 ; f32v2gina $azeros, $odd, 0 }
    { ld32step  $x, $mzero, $now_values+=, 1 ; f32v2gina $azeros, $azeros, 0 }
    { ld64      $x_hi, $dense, $delta, 1 ; f32v2gina $azeros, $azeros, 0 }
    { ldd16a64  $x_lo, $deltas++, $dense, $delta@ ; f32v2mul $x_hi, $x:B, $x_hi }
    { ld32step  $x, $mzero, $now_values+=, 1 ; f32v2mul $x_lo, $x:B, $x_lo }
    { rpt       $more, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld64      $x_hi, $dense, $delta, 1 ; f32v4acc $products_8 }
    { ldd16a64  $x_lo, $deltas++, $dense, $delta@ ; f32v2mul $x_hi, $x:B, $x_hi }
    { ld32step  $x, $mzero, $now_values+=, 1 ; f32v2mul $x_lo, $x:B, $x_lo }
2:
    { add       $dense, $dense, 16 ; f32v4acc $products_8 }
    { mov       $deltas, $row_deltas ; f32v2gina $even, $azeros, 0 }
    { st64step  $even, $mzero, $out+=, 1 ; f32v2gina $even, $azeros, 0 }
    { st64step  $even, $mzero, $out+=, 1 ; fnop }
    { mov       $now_values, $row_values ; fnop }
    { brnzdec   $groups, .Lgroup_\NAME ; fnop }
.endm

.macro SPARSE_DENSE_DYNAMIC IN
DEF_STACK_USAGE 0 .text.SparseDenseMatMulElementWise_\IN\()_float
    .section .text.SparseDenseMatMulElementWise_\IN\()_float, FUNCTION_IS_WORKER
    .globl SparseDenseMatMulElementWise_\IN\()_float
    .type SparseDenseMatMulElementWise_\IN\()_float, @function
    .worker
    .align 8
SparseDenseMatMulElementWise_\IN\()_float:
    { ld32      $meta, $mvertex_base, VERTEX_META_INFO ; setzi $x, ZAACC_BITMASK }
    { ld32      $values, $mvertex_base, VERTEX_VALUES ; uput $FP_CLR, $x }
    ldz16       $scratch, $mvertex_base, $mzero, VERTEX_BUCKETS_M1
.Lbucket_\IN:
    st32        $scratch, $mworker_base, $mzero, SCRATCH_BUCKETS
    ld32step    $id, $mzero, $meta+=, 1
    ld32step    $wanted, $mzero, $values+=, 1
    st32        $meta, $mworker_base, $mzero, SCRATCH_META_TABLE
    st32        $values, $mworker_base, $mzero, SCRATCH_VALUES_TABLE
    mov         $meta, $id
    mov         $values, $wanted
    ldz16       $wanted, $mvertex_base, $mzero, VERTEX_SUB_GROUP
.Lsub_group_\IN:
    ldz16       $id, $meta, $mzero, SUB_GROUP_ID
    brz         $id, .Lbucket_done_\IN
    cmpeq       $id, $id, $wanted
    brnz        $id, .Lmatch_\IN
.Lnext_sub_group_\IN:
    ldz16       $id, $meta, $mzero, SUB_GROUP_WORDS
    ldz16       $scratch, $meta, $mzero, SUB_GROUP_NON_ZEROS
    shl         $id, $id, 1
    add         $meta, $meta, $id
    shl         $scratch, $scratch, value_shift_\IN
    add         $values, $values, $scratch
    bri         .Lsub_group_\IN
.Lbucket_done_\IN:
    ld32        $scratch, $mworker_base, SCRATCH_BUCKETS
    ld32        $meta, $mworker_base, SCRATCH_META_TABLE
    ld32        $values, $mworker_base, SCRATCH_VALUES_TABLE
    brnzdec     $scratch, .Lbucket_\IN
    exitz       $mzero

.Lmatch_\IN:
    st32        $meta, $mworker_base, $mzero, SCRATCH_META_INFO
    st32        $values, $mworker_base, $mzero, SCRATCH_VALUES
    get         $entry, $WSR
    and         $entry, $entry, CSR_W_WSR__CTXTID_M1__MASK
    mul         $entry, $entry, WORKER_BYTES
    add         $entry, $entry, $meta
    ldz16       $rows, $entry, $mzero, WORKER_ROWS
    brz         $rows, .Lmatch_done_\IN
    ldz16       $groups, $entry, $mzero, WORKER_COLUMNS
    shr         $groups, $groups, columns_shift_\IN
    add         $groups, $groups, -1
    st32        $groups, $mworker_base, $mzero, SCRATCH_GROUPS_M1
    ldz16       $groups, $entry, $mzero, WORKER_FIRST_COLUMN
    ld32        $dense, $mvertex_base, VERTEX_DENSE
    shl         $temp, $groups, value_shift_\IN
    add         $dense, $dense, $temp
    st32        $dense, $mworker_base, $mzero, SCRATCH_DENSE
    ld32        $dense, $mvertex_base, VERTEX_OUT
    shl         $temp, $groups, 2
    add         $dense, $dense, $temp
    st32        $dense, $mworker_base, $mzero, SCRATCH_OUT
    ldz16       $row_deltas, $entry, $mzero, WORKER_ROWS_WORDS
    ldz16       $temp, $entry, $mzero, WORKER_NON_ZEROS
    shl         $row_deltas, $row_deltas, 1
    add         $row_deltas, $row_deltas, $meta
    shl         $temp, $temp, value_shift_\IN
    add         $row_values, $values, $temp
    add         $rows, $rows, -1
.Lrow_\IN:
    ldz16step   $out, $mzero, $row_deltas+=, 1
    ldz16       $temp, $mvertex_base, $mzero, VERTEX_COLUMNS
    mul         $out, $out, $temp
    ld32        $temp, $mworker_base, SCRATCH_OUT
    shl         $out, $out, 2
    add         $out, $out, $temp
    ldz16step   $more, $mzero, $row_deltas+=, 1
    ld32        $dense, $mworker_base, SCRATCH_DENSE
    ld32        $groups, $mworker_base, SCRATCH_GROUPS_M1
    mov         $deltas, $row_deltas
    mov         $now_values, $row_values
    .align 8
.Lgroup_\IN:
    GROUP_\IN \IN
    add         $more, $more, 1
    shl         $temp, $more, 1
    add         $row_deltas, $row_deltas, $temp
    shl         $temp, $more, value_shift_\IN
    add         $row_values, $row_values, $temp
    brnzdec     $rows, .Lrow_\IN
.Lmatch_done_\IN:
    ld32        $meta, $mworker_base, SCRATCH_META_INFO
    ld32        $values, $mworker_base, SCRATCH_VALUES
    ldz16       $wanted, $mvertex_base, $mzero, VERTEX_SUB_GROUP
    bri         .Lnext_sub_group_\IN
    .size SparseDenseMatMulElementWise_\IN\()_float, . - SparseDenseMatMulElementWise_\IN\()_float
.endm

SPARSE_DENSE_DYNAMIC half
SPARSE_DENSE_DYNAMIC float

#endif
