// SPDX-License-Identifier: MIT
// FP32 sums of neighbouring words, one sum a worker.
//
// Vertex sum_f32 (multi worker, or worker 0 alone). State, words:
//     0 from, 1 out                 worker w leaves its sum at out + 4 w
//     2, 3                          operands / workers, operands % workers; alone: operands, 0
// A worker adds its operands up in their order, from zero on; without operands its sum is zero.
// Timing, worker issues with n operands: 23 + n.
// Source: docs/evidence.md#sum-loop.

#include "worker_share.inc"

        .section .text.sum_f32, "ax"
        .worker
        .align 8
        .globl sum_f32
sum_f32:
        WORKER_INDEX
        ld32    $m0, $mvertex_base, $mzero, 0
        ld32    $m1, $mvertex_base, $mzero, 1
        WORKER_SHARE 2, FLAG=$m7
        shl     $m11, $m11, 2
        add     $m0, $m0, $m11
        shl     $m8, $m8, 2
        add     $m1, $m1, $m8
        zero    $a0:1
        and     $m7, $m6, 1
        brz     $m7, .Leven
.Lodd:
        ld32step $a1, $mzero, $m0+=, 1
.Leven:
        shr     $m6, $m6, 1
        { rpt   $m6, 1 ; fnop }
.Ltwo_operands:
        { ld32step $a1, $mzero, $m0+=, 1 ; f32add $a0, $a0, $a1 }
        { ld32step $a1, $mzero, $m0+=, 1 ; f32add $a0, $a0, $a1 }
.Lend:
        f32add  $a0, $a0, $a1
        st32    $a0, $m1, $mzero, 0
        exitz   $mzero
