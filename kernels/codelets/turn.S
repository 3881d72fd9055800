// SPDX-License-Identifier: MIT
// Turns blocks of 16 x 16 FP16 elements inside a tile: an element (i, j) of `from` becomes element (j, i) of `to`. A line
// is four rows of `from`, which become 8 bytes in each of 16 rows of `to`; worker w takes the lines w, w + workers, ...
//
// Vertex turn_f16 (multi worker). State, words:
//     0 from, 1 to      8-byte aligned; what is read and what is written does not overlap
//     2 list            4-byte aligned; two words a line: bytes from `from` to its first row, bytes from `to` to its
//                       first 8 bytes
//     3 lines
//     4, 5              bytes from a row of an even number to the next one, and from row 0 of four to row 2, of `from`
//     6, 7              the same of `to`
//     8                 from four rows of `to` to the next four, in 8 bytes
//   All of these are multiples of 8 bytes. 4 bytes behind each row of `from` are read too.
// Timing, worker issues with l lines: 15 + 63 l; without lines 7.
// Source: docs/evidence.md#instruction-set.

#include "worker_share.inc"

#define from m0
#define to m1
#define list m2
#define lines m3
#define row m4
#define row_2 m5
#define out m6
#define out_2 m7
#define row_step m8
#define out_step m9
#define out_four m10
#define count m11

#define LINE_BYTES 8
#define FOURS 4

// Two columns of the four rows become 8 bytes of two rows; loads the first two rows' next two.
.macro TWO_COLUMNS OUT
        { ld32  $a3, $row_2, $row_step, 0 ; sort4x16lo $a4, $a0, $a1 }
        { ld32step $a2, $mzero, $row_2+=, 1 ; sort4x16hi $a6, $a0, $a1 }
        { ld32  $a1, $row, $row_step, 0 ; sort4x16lo $a5, $a2, $a3 }
        { ld32step $a0, $mzero, $row+=, 1 ; sort4x16hi $a7, $a2, $a3 }
        { st64  $a6:7, \OUT, $out_step, 0 ; fnop }
        { st64step $a4:5, $mzero, \OUT+=, $out_four ; fnop }
.endm

        .section .text.turn_f16, "ax"
        .worker
        .align 8
        .globl turn_f16
turn_f16:
        WORKER_INDEX $m9
        ld32    $lines, $mvertex_base, $mzero, 3
        // lines from this worker's first on, in steps of all workers
        sub     $lines, $lines, $m9
        add     $lines, $lines, -1
        brneg   $lines, .Lend
.Lsome_lines:
        ld32    $from, $mvertex_base, $mzero, 0
        ld32    $to, $mvertex_base, $mzero, 1
        ld32    $list, $mvertex_base, $mzero, 2
        mul     $m10, $m9, LINE_BYTES
        add     $list, $list, $m10
        ld32    $row_step, $mvertex_base, $mzero, 4
        ld32    $out_step, $mvertex_base, $mzero, 6
        ld32    $out_four, $mvertex_base, $mzero, 8
.Lline:
        ld32    $row, $list, $mzero, 0
        ld32    $out, $list, $mzero, 1
        ld32    $row_2, $mvertex_base, $mzero, 5
        ld32    $out_2, $mvertex_base, $mzero, 7
        add     $row, $row, $from
        add     $out, $out, $to
        add     $row_2, $row_2, $row
        add     $out_2, $out_2, $out
        { setzi $count, FOURS ; fnop }
        ld32    $a1, $row, $row_step, 0
        ld32step $a0, $mzero, $row+=, 1
        { rpt   $count, 11 ; fnop }
.Lfour:
        TWO_COLUMNS $out
        TWO_COLUMNS $out_2
.Lnext_line:
        add     $list, $list, LINE_BYTES * CTXT_WORKERS
        add     $lines, $lines, -CTXT_WORKERS
        brpos   $lines, .Lline
.Lend:
        exitz   $mzero
