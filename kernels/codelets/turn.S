// SPDX-License-Identifier: MIT
// Turns blocks of 16 x 16 FP16 elements inside a tile: an element (i, j) of `from` becomes element (j, i) of `to`. A line
// is four rows of `from`, which become 8 bytes in each of 16 rows of `to`; worker w takes the lines w, w + workers, ...
// The last lines of the list may be those of another place, `others`.
//
// Vertex turn_f16 (multi worker). State, words:
//     0 from, 1 to      8-byte aligned; what is read and what is written does not overlap
//     2 list            4-byte aligned; two words a line: bytes from `from` to its first row, bytes from `to` to its
//                       first 8 bytes
//     3 lines of `from`
//     4                 bytes from row 0 of four to row 2, of `from`; a row of an odd number stands 32 bytes behind the
//                       one before it
//     5, 6              bytes from a row of an even number to the next one, and from row 0 of four to row 2, of `to`
//     7                 from four rows of `to` to the next four, in 8 bytes
//     8 others          8-byte aligned; `from` again: there are none
//     9                 lines of `others`, which come behind those of `from`
//   All of these bytes are multiples of 8.
// Timing, worker issues with l lines: 23 + 44 l; where there are others 6 more, and 3 if it has some of them.
// Source: docs/evidence.md#instruction-set.

#include "worker_share.inc"

#define from m0
#define to m1
#define list m2
#define lines m3
#define row m4
#define from_2 m5
#define to_1 m6
#define to_2 m7
#define to_3 m8
#define out m9
#define out_four m10

#define LINE_WORDS 2
#define ODD 4 // from a row to the next one, in 8 bytes
#define LAST 3

// Four columns of the four rows become 8 bytes of four rows of `to`, the last two of them first. The first two are sorted
// and stored while the next four columns are loaded. Rows of an odd number come by their halves, as there are eight
// registers for what is loaded and what is sorted.
.macro FOUR_COLUMNS NUMBER
.if \NUMBER == 0
        ld64    $a4:5, $from, $row, 0
        ld64    $a2:3, $from_2, $row, 0
        ld32    $a6, $from_2, $row, 2 * ODD + 1
        { ld32step $out, $mzero, $list+=, LINE_WORDS * CTXT_WORKERS - 1 ; sort4x16hi $a1, $a3, $a6 }
.else
        { ld64  $a4:5, $from, $row, \NUMBER ; sort4x16hi $a6, $a4, $a6 }
        { ld64  $a2:3, $from_2, $row, \NUMBER ; sort4x16lo $a1, $a2, $a3 }
        st64    $a6:7, $to_1, $out, 0
        ld32    $a6, $from_2, $row, 2 * (ODD + \NUMBER) + 1
        { st64step $a0:1, $to, $out+=, $out_four ; sort4x16hi $a1, $a3, $a6 }
.endif
        { ld32  $a0, $from, $row, 2 * (ODD + \NUMBER) + 1 ; sort4x16lo $a7, $a3, $a6 }
        { ld32  $a3, $from_2, $row, 2 * (ODD + \NUMBER) ; sort4x16lo $a6, $a5, $a0 }
        { st64  $a6:7, $to_2, $out, 0 ; sort4x16hi $a0, $a5, $a0 }
        { ld32  $a6, $from, $row, 2 * (ODD + \NUMBER) ; sort4x16hi $a7, $a2, $a3 }
        { st64  $a0:1, $to_3, $out, 0 ; sort4x16lo $a0, $a4, $a6 }
.if \NUMBER == LAST
        { add   $lines, $lines, -CTXT_WORKERS ; sort4x16hi $a6, $a4, $a6 }
        { st64  $a6:7, $to_1, $out, 0 ; sort4x16lo $a1, $a2, $a3 }
        st64    $a0:1, $to, $out, 0
.endif
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
        ld32    $from, $mvertex_base, $mzero, 0
        ld32    $to, $mvertex_base, $mzero, 1
        ld32    $list, $mvertex_base, $mzero, 2
        mul     $m10, $m9, LINE_WORDS * 4
        add     $list, $list, $m10
        ld32    $from_2, $mvertex_base, $mzero, 4
        ld32    $to_1, $mvertex_base, $mzero, 5
        ld32    $to_2, $mvertex_base, $mzero, 6
        ld32    $out_four, $mvertex_base, $mzero, 7
        add     $from_2, $from_2, $from
        add     $to_1, $to_1, $to
        add     $to_3, $to_2, $to_1
        add     $to_2, $to_2, $to
        brneg   $lines, .Lothers
.Lline:
        ld32step $row, $mzero, $list+=, 1
        FOUR_COLUMNS 0
        FOUR_COLUMNS 1
        FOUR_COLUMNS 2
        FOUR_COLUMNS LAST
        brpos   $lines, .Lline
.Lothers:
        ld32    $out, $mvertex_base, $mzero, 8
        cmpeq   $row, $out, $from
        brnz    $row, .Lend
.Lchange:
        ld32    $row, $mvertex_base, $mzero, 9
        ld32    $from_2, $mvertex_base, $mzero, 4
        add     $from, $out, 0
        add     $lines, $lines, $row
        add     $from_2, $from_2, $from
        brpos   $lines, .Lline
.Lend:
        exitz   $mzero
