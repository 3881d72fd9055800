// SPDX-License-Identifier: MIT
// clang-format off
// Vertex state and common begin of the element-sparse vertices.
//
// State, by byte offset: 32-bit pointers, then 16-bit fields
//     0  out       partials [row][columns], 8-byte aligned
//     4  values    non-zeros, row by row; the code also reads one beyond the last
//     8  metaInfo  16-bit words, see below
//    12  dense     dense operand [row][columns], 8-byte aligned; shares no memory element with
//                  values or metaInfo
//    16  columns   number of columns
// metaInfo: 4 words per worker {index of its first value, word offset of its lists in metaInfo,
// first row, number of rows}. Two lists follow each other: for each row its number of non-zeros
// minus 1, then for each non-zero the byte offset in `dense` of the row that it multiplies. The code
// also reads one word beyond each. VERTEX_... count in units of the field's size.
#ifndef TESSERA_PUBLISHED_SPARSE_DENSE_ELEMENTWISE_H
#define TESSERA_PUBLISHED_SPARSE_DENSE_ELEMENTWISE_H

#define VERTEX_OUT 0
#define VERTEX_VALUES 1
#define VERTEX_META_INFO 2
#define VERTEX_DENSE 3
#define VERTEX_COLUMNS 8

#define META_VALUES 0
#define META_OWN 1
#define META_FIRST_ROW 2
#define META_ROWS 3
#define LOG2_META_BYTES 3

#define ZAACC_BITMASK (CSR_W_FP_CLR__ZAACC__MASK << CSR_W_FP_CLR__ZAACC__SHIFT)
.equ log2_half, 1
.equ log2_float, 2

#define out m0
#define dense m1
#define counts m2
#define deltas m3
#define values m4
#define rows_m1 m5
#define more m6
#define delta m7
#define row_deltas m8
#define row_values m9
#define groups_m1 m10
#define groups m11

// Loads a worker's share into registers and `columns` into $groups. Without rows it jumps to DONE.
.macro ELEMENTWISE_BEGIN LOG2_IN LOG2_OUT DONE
    get         $row_values, $WSR
    and         $row_values, $row_values, CSR_W_WSR__CTXTID_M1__MASK
    { shl       $row_values, $row_values, LOG2_META_BYTES ; setzi $a0, ZAACC_BITMASK }
    { ld32      $counts, $mvertex_base, VERTEX_META_INFO ; uput $FP_CLR, $a0 }
    add         $row_values, $row_values, $counts
    ldz16       $rows_m1, $row_values, $mzero, META_ROWS
    brz         $rows_m1, \DONE
    ldz16       $values, $row_values, $mzero, META_VALUES
    ldz16       $deltas, $row_values, $mzero, META_OWN
    ldz16       $row_values, $row_values, $mzero, META_FIRST_ROW
    ldz16       $groups, $mvertex_base, $mzero, VERTEX_COLUMNS
    ld32        $out, $mvertex_base, VERTEX_OUT
    ld32        $dense, $mvertex_base, VERTEX_VALUES
    mul         $row_values, $row_values, $groups
    shl         $row_values, $row_values, \LOG2_OUT
    add         $out, $out, $row_values
    shl         $values, $values, \LOG2_IN
    add         $values, $values, $dense
    ld32        $dense, $mvertex_base, VERTEX_DENSE
    shl         $deltas, $deltas, 1
    add         $counts, $counts, $deltas
    shl         $deltas, $rows_m1, 1
    add         $deltas, $deltas, $counts
    add         $rows_m1, $rows_m1, -1
.endm

#endif
