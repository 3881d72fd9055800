// SPDX-License-Identifier: MIT
// The sum of neighbouring pairs of FP32 numbers.
//
// Vertex sum_pairs (worker). State, words:
//     0 from, 1 out   8-byte aligned; the pair of both sums is written to out
//     2 pairs         at least 1, at most what a repeat counts and 1
// Vertex sum_pairs_total (worker). The same, and
//     3 factor        FP32; out is factor * (first sum + second sum), one number
// Timing, worker issues: 8 + pairs; total 11 + pairs.
// Source: docs/evidence.md#instruction-set.

.macro PAIRS NAME
        .section .text.\NAME, "ax"
        .worker
        .align 8
        .globl \NAME
\NAME:
        ld32    $m0, $mvertex_base, $mzero, 0
        ld32    $m1, $mvertex_base, $mzero, 1
        ld32    $m2, $mvertex_base, $mzero, 2
        ld64step $a2:3, $mzero, $m0+=, 1
        { add   $m2, $m2, -1 ; fnop }
        { rpt   $m2, 0 ; zero $a0:1 }
.Lpair_\NAME:
        { ld64step $a2:3, $mzero, $m0+=, 1 ; f32v2add $a0:1, $a0:1, $a2:3 }
.Lend_\NAME:
        f32v2add $a0:1, $a0:1, $a2:3
.endm

        PAIRS   sum_pairs
        st64    $a0:1, $m1, $mzero, 0
        exitz   $mzero

        PAIRS   sum_pairs_total
        ld32    $a2, $mvertex_base, $mzero, 3
        f32add  $a0, $a0, $a1
        f32mul  $a0, $a0, $a2
        st32    $a0, $m1, $mzero, 0
        exitz   $mzero
