// SPDX-License-Identifier: MIT
// a = b + s c, eight bytes at a time, by all workers: worker w takes the words w, w + workers, ...
//
//   streamed_triad_f32, streamed_triad_f16 (multi worker). State, words:
//     0 b, 1 c, 2 a   8-byte aligned, outside the code's memory element
//     3 s             FP32, or FP16 twice
//     4, 5            words of 8 bytes / workers, and % workers
// Timing, worker issues with n words of its own: 17 + 4 n, 8 without any.
// Source: docs/evidence.md#instruction-set

#include "worker_share.inc"

.macro TRIAD NAME MUL BROADCAST ADD
        .section .text.\NAME, "ax"
        .worker
        .align 8
        .globl \NAME
\NAME:
        WORKER_INDEX $m0
        LOAD_SHARE 4, $m1, $m2
        OWN_UNITS $m1, $m0, $m1, $m2, $m2       // words of this worker
        brz     $m1, .Lend_\NAME
        ld32    $m2, $mvertex_base, $mzero, 0
        ld32    $m3, $mvertex_base, $mzero, 1
        ld32    $m4, $mvertex_base, $mzero, 2
        ld32    $a6, $mvertex_base, $mzero, 3
        shl     $m0, $m0, 3
        add     $m2, $m2, $m0
        add     $m3, $m3, $m0
        add     $m4, $m4, $m0
        .align 8
        { rpt   $m1, 3 ; fnop }
        { ld64step $a0:1, $mzero, $m3+=, CTXT_WORKERS ; fnop }
        { ld64step $a2:3, $mzero, $m2+=, CTXT_WORKERS ; \MUL $a0:1, \BROADCAST, $a0:1 }
        { nop ; \ADD $a2:3, $a2:3, $a0:1 }
        { st64step $a2:3, $mzero, $m4+=, CTXT_WORKERS ; fnop }
.Lend_\NAME:
        exitz   $mzero
.endm

TRIAD streamed_triad_f32 f32v2mul $a6:B f32v2add
TRIAD streamed_triad_f16 f16v4mul $a6:BL f16v4add
