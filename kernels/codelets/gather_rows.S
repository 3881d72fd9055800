// SPDX-License-Identifier: MIT
// Copies rows of a table that a list of row numbers picks, and joins what several tiles have of them.
//
// Vertex gather_rows (multi worker). State, words:
//     0 row numbers     words
//     1 table           8-byte aligned rows, one behind the other; the row behind the last is zero
//     2 to              8-byte aligned, so many rows as there are numbers
//     3 numbers / workers, 4 numbers % workers
//     5 number of the table's first row, 6 its rows, 7 bytes of a row, 8 the same in words of 8
// A number that is not among the table's rows picks the row behind the last: no cycle depends on it.
// Timing, worker issues with n numbers and w words a row: 23 + n (10 + 2 w); without numbers 14.
//
// Vertex join_rows (multi worker): ORs words of 8 bytes. State, words:
//     0 from, 1 others  so many words for each of them, one behind the other
//     2 to
//     3 words / workers, 4 words % workers
//     5 others, 6 words from one of them to the next
// Timing, worker issues with n words and k others: 21 + n (6 + 2 k); without words 14.
// Source: docs/evidence.md#instruction-set.

#include "worker_share.inc"

#define ids m0
#define table m1
#define to m2
#define first m3
#define rows m4
#define row_bytes m5
#define words m7

        .section .text.gather_rows, "ax"
        .worker
        .align 8
        .globl gather_rows
gather_rows:
        WORKER_INDEX
        ld32    $ids, $mvertex_base, $mzero, 0
        ld32    $table, $mvertex_base, $mzero, 1
        ld32    $to, $mvertex_base, $mzero, 2
        WORKER_SHARE 3
        brz     $m6, .Lno_numbers
.Lsome_numbers:
        ld32    $first, $mvertex_base, $mzero, 5
        ld32    $rows, $mvertex_base, $mzero, 6
        ld32    $row_bytes, $mvertex_base, $mzero, 7
        ld32    $words, $mvertex_base, $mzero, 8
        shl     $m8, $m11, 2
        add     $ids, $ids, $m8
        mul     $m8, $m11, $row_bytes
        add     $to, $to, $m8
        add     $m6, $m6, -1
.Lnumber:
        ld32step $m8, $mzero, $ids+=, 1
        sub     $m8, $m8, $first
        cmpult  $m9, $m8, $rows
        sub     $m8, $m8, $rows
        mul     $m8, $m8, $m9
        add     $m8, $m8, $rows
        mul     $m8, $m8, $row_bytes
        add     $m8, $m8, $table
        { rpt   $words, 1 ; fnop }
.Lword:
        { ld64step $a0:1, $mzero, $m8+=, 1 ; fnop }
        { st64step $a0:1, $mzero, $to+=, 1 ; fnop }
.Lrow_end:
        brnzdec $m6, .Lnumber
.Lno_numbers:
        exitz   $mzero

#define from m0
#define others m1
#define count m3
#define stride m4
#define other m5

        .section .text.join_rows, "ax"
        .worker
        .align 8
        .globl join_rows
join_rows:
        WORKER_INDEX
        ld32    $from, $mvertex_base, $mzero, 0
        ld32    $others, $mvertex_base, $mzero, 1
        ld32    $to, $mvertex_base, $mzero, 2
        WORKER_SHARE 3
        brz     $m6, .Lno_words
.Lsome_words:
        ld32    $count, $mvertex_base, $mzero, 5
        ld32    $stride, $mvertex_base, $mzero, 6
        shl     $m11, $m11, 3
        add     $from, $from, $m11
        add     $others, $others, $m11
        add     $to, $to, $m11
        add     $m6, $m6, -1
.Lsum:
        ld64step $a0:1, $mzero, $from+=, 1
        add     $other, $others, 0
        { rpt   $count, 1 ; fnop }
.Lother:
        { ld64step $a2:3, $mzero, $other+=, $stride ; fnop }
        { add   $m8, $m8, 0 ; or64 $a0:1, $a0:1, $a2:3 }
.Lothers_end:
        st64step $a0:1, $mzero, $to+=, 1
        add     $others, $others, 8
        brnzdec $m6, .Lsum
.Lno_words:
        exitz   $mzero
