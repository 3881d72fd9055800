// SPDX-License-Identifier: MIT
// Rows of zeros with a 1 where a list of numbers says.
//
// Vertices one_hot_f16, one_hot_f32 (multi worker). Worker w has rows w, w + workers, ... State, words:
//     0 numbers         a word for each row
//     1 to              of row 0, 8-byte aligned; rows of whole words of 8 bytes, one behind the other
//     2 rows
//     3 words of 8 bytes of a row, at least one, at most what a repeat counts
//     4 elements of a row
// A number that is none of a row's elements gives zeros: no cycle depends on it.
// Timing, worker issues with r rows of w words: f16 16 + r (18 + w), f32 16 + r (14 + w); 7 without rows.
// Source: docs/evidence.md#instruction-set.

#include "worker_share.inc"

#define ids m0
#define to m1
#define rows m2
#define words m3
#define elements m4
#define row_bytes m5
#define number m6
#define inside m7
#define word m8
#define bits m9
#define index m10

.macro ONE_HOT NAME
        .section .text.\NAME, "ax"
        .worker
        .align 8
        .globl \NAME
        .scatters \NAME
\NAME:
        WORKER_INDEX $index
        ld32    $rows, $mvertex_base, $mzero, 2
        // rows from this worker's first on, in steps of all workers
        sub     $rows, $rows, $index
        add     $rows, $rows, -1
        brneg   $rows, .Ldone_\NAME
.Lsome_rows_\NAME:
        ld32    $ids, $mvertex_base, $mzero, 0
        ld32    $to, $mvertex_base, $mzero, 1
        ld32    $words, $mvertex_base, $mzero, 3
        ld32    $elements, $mvertex_base, $mzero, 4
        shl     $row_bytes, $words, 3
        mul     $word, $row_bytes, $index
        add     $to, $to, $word
        shl     $word, $index, 2
        { add   $ids, $ids, $word ; fnop }
.Lrow_\NAME:
        { mov   $word, $to ; fnop }
        { rpt   $words, 0 ; fnop }
.Lword_\NAME:
        { st64step $azeros, $mzero, $word+=, 1 ; fnop }
.Lend_word_\NAME:
        { ld32step $number, $mzero, $ids+=, CTXT_WORKERS ; fnop }
        { cmpult $inside, $number, $elements ; fnop }
        { mul   $number, $number, $inside ; fnop }
.endm

.macro NEXT_ROW NAME
        { shl   $number, $number, 2 ; fnop }
        { add   $number, $number, $to ; fnop }
        { st32  $bits, $number, $mzero, 0 ; fnop }
        { mul   $word, $row_bytes, CTXT_WORKERS ; fnop }
        { add   $to, $to, $word ; fnop }
        { add   $rows, $rows, -CTXT_WORKERS ; fnop }
        { brpos $rows, .Lrow_\NAME ; fnop }
.Ldone_\NAME:
        exitz   $mzero
.endm

        ONE_HOT one_hot_f16
        { setzi $bits, 0x3c00 ; fnop }
        { mul   $bits, $bits, $inside ; fnop }
        // in the half of the word that the number has
        { and   $inside, $number, 1 ; fnop }
        { shl   $inside, $inside, 4 ; fnop }
        { shl   $bits, $bits, $inside ; fnop }
        { shr   $number, $number, 1 ; fnop }
        NEXT_ROW one_hot_f16

        ONE_HOT one_hot_f32
        { shl   $bits, $inside, 23 ; fnop }
        { mul   $bits, $bits, 127 ; fnop }
        NEXT_ROW one_hot_f32
