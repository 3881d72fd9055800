// SPDX-License-Identifier: MIT
// Copies words inside a tile, from or to a place that depends on the round of a repeat.
//
// Vertices copy_row64, copy_row32 (multi worker), for words of 8 and 4 bytes. State, words:
//     0 from, 1 to      of round 0; aligned to the word; what is read and what is written does not overlap
//     2 round           points to a word with the number of the round
//     3 words / workers, 4 words % workers
//     5 from_step, 6 to_step   bytes that `from` and `to` go on with each round; they may be negative
// Timing, worker issues with n words: 24 + 2 n.
// Source: docs/evidence.md#instruction-set.

#include "worker_share.inc"

.macro COPY_ROW NAME LOG2_BYTES LOAD STORE DATA
        .section .text.\NAME, "ax"
        .worker
        .align 8
        .globl \NAME
\NAME:
        WORKER_INDEX
        ld32    $m2, $mvertex_base, $mzero, 2
        ld32    $m0, $mvertex_base, $mzero, 0
        ld32    $m1, $mvertex_base, $mzero, 1
        ld32    $m2, $m2, $mzero, 0
        ld32    $m3, $mvertex_base, $mzero, 5
        ld32    $m4, $mvertex_base, $mzero, 6
        mul     $m3, $m3, $m2
        mul     $m4, $m4, $m2
        add     $m0, $m0, $m3
        add     $m1, $m1, $m4
        WORKER_SHARE 3
        shl     $m11, $m11, \LOG2_BYTES
        add     $m0, $m0, $m11
        add     $m1, $m1, $m11
        { rpt   $m6, 1 ; fnop }
.Lword_\NAME:
        { \LOAD \DATA, $mzero, $m0+=, 1 ; fnop }
        { \STORE \DATA, $mzero, $m1+=, 1 ; fnop }
.Lend_\NAME:
        exitz   $mzero
.endm

COPY_ROW copy_row64 3 ld64step st64step $a0:1
COPY_ROW copy_row32 2 ld32step st32step $a0
