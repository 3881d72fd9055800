// SPDX-License-Identifier: MIT
// y = scale * x + y in FP32, two elements at a time, by all workers: worker w takes the pairs w, w + workers, ...
//
// Vertex scaled_add (multi worker). State, words:
//     0 x             8-byte aligned
//     1 y             8-byte aligned, in another memory element than the code
//     2 scale         FP32
//     3, 4            pairs / workers, pairs % workers
// Timing, worker issues with p pairs of its own: 16 + 4 * p, 11 without any.

        .section .text.scaled_add, "ax"
        .worker
        .align 8
        .globl scaled_add
scaled_add:
        get     $m0, $WSR
        and     $m0, $m0, CSR_W_WSR__CTXTID_M1__MASK
        ld32    $m1, $mvertex_base, $mzero, 3
        ld32    $m2, $mvertex_base, $mzero, 4
        cmpult  $m2, $m0, $m2
        add     $m1, $m1, $m2                   // pairs of this worker
        brz     $m1, .Ldone
        ld32    $m2, $mvertex_base, $mzero, 0
        ld32    $m3, $mvertex_base, $mzero, 1
        ld32    $a6, $mvertex_base, $mzero, 2
        shl     $m0, $m0, 3
        add     $m2, $m2, $m0
        add     $m3, $m3, $m0
        .align 8
        { rpt   $m1, (2f - 1f) / 8 - 1 ; fnop }
1:
        { ld64step $a0:1, $mzero, $m2+=, CTXT_WORKERS ; fnop }
        { ld64  $a2:3, $m3, $mzero, 0 ; f32v2mul $a0:1, $a6:B, $a0:1 }
        { nop ; f32v2add $a2:3, $a2:3, $a0:1 }
        { st64step $a2:3, $mzero, $m3+=, CTXT_WORKERS ; fnop }
2:
.Ldone:
        exitz   $mzero
