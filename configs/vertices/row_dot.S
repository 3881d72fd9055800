// SPDX-License-Identifier: MIT
// y[r] = sum of x[r, k] * w[k] in FP32, two elements at a time, by all workers: worker w has rows w, w + workers, ...
//
// Vertex row_dot (multi worker). State, words:
//     0 x             of row 0; 8-byte aligned, rows behind each other
//     1 w             8-byte aligned
//     2 y             4-byte aligned, does not overlap x or w
//     3 rows
//     4 pairs         of elements of a row; at least one
// Timing, worker issues with r rows of its own of p pairs: 17 + r * (7 + 3 * p), 17 without any.

        .section .text.row_dot, "ax"
        .worker
        .align 8
        .globl row_dot
row_dot:
        get     $m0, $WSR
        and     $m0, $m0, CSR_W_WSR__CTXTID_M1__MASK
        ld32    $m1, $mvertex_base, $mzero, 0
        ld32    $m2, $mvertex_base, $mzero, 1
        ld32    $m3, $mvertex_base, $mzero, 2
        ld32    $m4, $mvertex_base, $mzero, 3
        ld32    $m5, $mvertex_base, $mzero, 4
        shl     $m6, $m5, 3                     // bytes of a row
        mul     $m7, $m6, $m0
        add     $m1, $m1, $m7                   // the first row of this worker
        shl     $m7, $m0, 2
        add     $m3, $m3, $m7
        mul     $m6, $m6, CTXT_WORKERS - 1      // from the end of a row to the next one
        sub     $m4, $m4, $m0
        add     $m4, $m4, -1
        brneg   $m4, .Ldone
        .align 8
.Lrow:
        { mov   $m8, $m2 ; zero $a4:5 }
        { rpt   $m5, (2f - 1f) / 8 - 1 ; zero $a6:7 }
1:
        { ld64step $a0:1, $mzero, $m1+=, 1 ; f32v2add $a4:5, $a4:5, $a6:7 }
        { ld64step $a2:3, $mzero, $m8+=, 1 ; fnop }
        { nop ; f32v2mul $a6:7, $a0:1, $a2:3 }
2:
        { add   $m1, $m1, $m6 ; f32v2add $a4:5, $a4:5, $a6:7 }
        { nop ; f32add $a4, $a4, $a5 }
        st32step $a4, $mzero, $m3+=, CTXT_WORKERS
        add     $m4, $m4, -CTXT_WORKERS
        brpos   $m4, .Lrow
.Ldone:
        exitz   $mzero
