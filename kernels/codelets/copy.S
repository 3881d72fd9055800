// SPDX-License-Identifier: MIT
// Copies words of 8 or 4 bytes inside a tile.
//
// Vertices copy64, copy32 (multi worker). State, words: 0 from, 1 to (aligned to the word, not overlapping),
//   2 words / workers, 3 words % workers.
// Timing, worker issues with n words: 16 + 2 n.
// Source: docs/evidence.md#instruction-set.

#include "worker_share.inc"

.macro COPY NAME LOG2_BYTES LOAD STORE DATA
        .section .text.\NAME, "ax"
        .worker
        .align 8
        .globl \NAME
\NAME:
        WORKER_INDEX
        ld32    $m0, $mvertex_base, $mzero, 0
        ld32    $m1, $mvertex_base, $mzero, 1
        WORKER_SHARE 2
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

COPY copy64 3 ld64step st64step $a0:1
COPY copy32 2 ld32step st32step $a0
