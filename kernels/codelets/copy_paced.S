// SPDX-License-Identifier: MIT
// Copies words of 8 bytes inside a tile from one memory element to another, one issue a word.
//
// Vertex copy64_paced (multi worker). State, words: 0 from, 1 to (8-byte aligned, in different memory elements),
//   2 words / workers, 3 words % workers.
// Timing, worker issues with n words: 20 + n; without words 16.
// Source: docs/evidence.md#instruction-set.

#include "worker_share.inc"

        .section .text.copy64_paced, "ax"
        .worker
        .align 8
        .globl copy64_paced
copy64_paced:
        WORKER_INDEX
        ld32    $m0, $mvertex_base, $mzero, 0
        ld32    $m1, $mvertex_base, $mzero, 1
        WORKER_SHARE 2
        shl     $m11, $m11, 3
        add     $m0, $m0, $m11
        add     $m1, $m1, $m11
        brz     $m6, .Lnothing
.Lsome_words:
        ld64step $a0:1, $mzero, $m0+=, 1
        { add   $m6, $m6, -1 ; fnop }
        { tapack $m4:5, $m0, $mzero, $m1 ; fnop }
        { rpt   $m6, 0 ; fnop }
.Lword:
        { ldst64pace $a0:1, $a0:1, $m4:5+=, $mzero, 0b0000 ; fnop }
.Lend:
        st64pace $a0:1, $m4:5+=, $mzero, 0b00
.Lnothing:
        exitz   $mzero
