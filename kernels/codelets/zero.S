// SPDX-License-Identifier: MIT
// Writes zeros to words of 8 bytes inside a tile.
//
// Vertex zero64 (multi worker). State, words: 0 to (8-byte aligned), 1 words / workers, 2 words % workers.
// Timing, worker issues with n words: 14 + n.
// Source: docs/evidence.md#instruction-set.

#include "worker_share.inc"

        .section .text.zero64, "ax"
        .worker
        .align 8
        .globl zero64
zero64:
        WORKER_INDEX
        ld32    $m0, $mvertex_base, $mzero, 0
        WORKER_SHARE 1
        shl     $m11, $m11, 3
        add     $m0, $m0, $m11
        { rpt   $m6, 0 ; fnop }
.Lword_zero64:
        { st64step $azeros, $mzero, $m0+=, 1 ; fnop }
.Lend_zero64:
        exitz   $mzero
