// SPDX-License-Identifier: MIT
// Copies words of 8 or 4 bytes inside a tile.
//
// Vertices copy64, copy32 (multi worker). State, words: 0 from, 1 to (aligned to the word, not overlapping),
//   2 words / workers, 3 words % workers.
// Timing, worker issues with n words: 16 + 2 n.
// Source: docs/evidence.md#instruction-set.

.macro COPY NAME LOG2_BYTES LOAD STORE DATA
        .section .text.\NAME, "ax"
        .worker
        .align 8
        .globl \NAME
\NAME:
        get     $m8, $WSR
        and     $m8, $m8, CSR_W_WSR__CTXTID_M1__MASK
        ld32    $m0, $mvertex_base, $mzero, 0
        ld32    $m1, $mvertex_base, $mzero, 1
        ld32    $m9, $mvertex_base, $mzero, 2
        ld32    $m10, $mvertex_base, $mzero, 3
        mul     $m11, $m8, $m9
        min     $m7, $m8, $m10
        add     $m11, $m11, $m7
        cmpult  $m8, $m8, $m10
        add     $m6, $m9, $m8
        shl     $m11, $m11, \LOG2_BYTES
        add     $m0, $m0, $m11
        add     $m1, $m1, $m11
        { rpt   $m6, 1 ; fnop }
        { \LOAD \DATA, $mzero, $m0+=, 1 ; fnop }
        { \STORE \DATA, $mzero, $m1+=, 1 ; fnop }
        exitz   $mzero
.endm

COPY copy64 3 ld64step st64step $a0:1
COPY copy32 2 ld32step st32step $a0
