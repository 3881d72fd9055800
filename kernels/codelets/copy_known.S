// SPDX-License-Identifier: MIT
// Copies words inside a tile by main registers, which carry what timing mode knows of them.
//
// Vertex copy_known32 (multi worker). State, words: 0 from, 1 to (aligned to the word, not overlapping),
//   2 words / workers, 3 words % workers.
// Timing, worker issues with n words: 16 + 2 n.
// Source: docs/evidence.md#instruction-set.

#include "worker_share.inc"

        .section .text.copy_known32, "ax"
        .worker
        .align 8
        .globl copy_known32
copy_known32:
        WORKER_INDEX
        ld32    $m0, $mvertex_base, $mzero, 0
        ld32    $m1, $mvertex_base, $mzero, 1
        WORKER_SHARE 2
        shl     $m11, $m11, 2
        add     $m0, $m0, $m11
        add     $m1, $m1, $m11
        { rpt   $m6, 1 ; fnop }
.Lword_copy_known32:
        { ld32step $m2, $mzero, $m0+=, 1 ; fnop }
        { st32step $m2, $mzero, $m1+=, 1 ; fnop }
.Lend_copy_known32:
        exitz   $mzero
