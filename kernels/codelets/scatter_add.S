// SPDX-License-Identifier: MIT
// Adds rows to those rows of a table that a list of row numbers names, in the list's order. FP32.
//
// Vertex scatter_add (multi worker). State, words:
//     0 row numbers     words
//     1 from            8-byte aligned rows, one for each number, one behind the other
//     2 table           the same, and a row behind the last
//     3 words of 8 bytes of a row / workers, 4 words % workers
//     5 number of the table's first row, 6 its rows, 7 bytes of a row
//     8 numbers         at least 1
// A number that is not among the table's rows has its row added to the row behind the last: no cycle depends on it. Each worker has some of
// the words of every row, so that no two add to one.
// Timing, worker issues with n numbers and w words of the worker: 22 + n (12 + 4 w); without words 14.
// Source: docs/evidence.md#instruction-set.

#include "worker_share.inc"

#define ids m0
#define from m1
#define table m2
#define first m3
#define rows m4
#define row_bytes m5
#define words m6
#define numbers m7
#define row m8
#define inside m9
#define word m10

        .section .text.scatter_add, "ax"
        .worker
        .align 8
        .globl scatter_add
        .scatters scatter_add
scatter_add:
        WORKER_INDEX
        ld32    $ids, $mvertex_base, $mzero, 0
        ld32    $from, $mvertex_base, $mzero, 1
        ld32    $table, $mvertex_base, $mzero, 2
        WORKER_SHARE 3
        brz     $words, .Lno_words
.Lsome_words:
        shl     $m11, $m11, 3
        add     $from, $from, $m11
        add     $table, $table, $m11
        ld32    $first, $mvertex_base, $mzero, 5
        ld32    $rows, $mvertex_base, $mzero, 6
        ld32    $row_bytes, $mvertex_base, $mzero, 7
        ld32    $numbers, $mvertex_base, $mzero, 8
        { add   $numbers, $numbers, -1 ; fnop }
.Lnumber:
        ld32step $row, $mzero, $ids+=, 1
        sub     $row, $row, $first
        cmpult  $inside, $row, $rows
        sub     $row, $row, $rows
        mul     $row, $row, $inside
        add     $row, $row, $rows
        mul     $row, $row, $row_bytes
        add     $row, $row, $table
        { mov   $word, $from ; fnop }
        { rpt   $words, 3 ; fnop }
.Lword:
        { ld64step $a0:1, $mzero, $word+=, 1 ; fnop }
        { ld64  $a2:3, $row, $mzero, 0 ; fnop }
        { nop   ; f32v2add $a0:1, $a0:1, $a2:3 }
        { st64step $a0:1, $mzero, $row+=, 1 ; fnop }
.Lrow_end:
        add     $from, $from, $row_bytes
        brnzdec $numbers, .Lnumber
.Lno_words:
        exitz   $mzero
