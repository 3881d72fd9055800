// SPDX-License-Identifier: MIT
// Sums of rows of a cross entropy, of what shares of rows have left (cross_entropy.S).
//
// Vertex cross_entropy_join (multi worker). Worker w has rows w, w + workers, ... Its sum is that of log(S) + M - (sum of t x) of its rows,
// for the largest m of a row's shares, M, and the sum of their exp(m - M) sums, S. State, words:
//     0 partials      [row][share] of (m, sum of exp(x - m)), 8-byte aligned
//     1 dots          [row][share] of -(sum of t x)
//     2 rows, 3 shares of a row
//     4 sums          pair w is worker w's: its sum, and 0; 8-byte aligned
// Timing, worker issues with r rows of s shares: 20 + r (17 + 8 s), of which 5 a row and 2 a share are waits for logarithms and
//   exponentials; 11 without rows.
// Source: docs/evidence.md#instruction-set.

#include "worker_share.inc"

#define index m0
#define partials m1
#define dots m2
#define rows m3
#define shares m4
#define bytes m5        // of a row's partials
#define from m6
#define spare m7
#define all a3          // largest
#define sum a4
#define product a5
#define dot a6
#define total a7

        .section .text.cross_entropy_join, "ax"
        .worker
        .align 8
        .globl cross_entropy_join
cross_entropy_join:
        WORKER_INDEX $index
        ld32    $rows, $mvertex_base, $mzero, 2
        // rows from this worker's first on, in steps of all workers
        { sub   $rows, $rows, $index ; zero $a6:7 }
        { add   $rows, $rows, -1 ; fnop }
        brneg   $rows, .Ldone
.Lsome_rows:
        ld32    $shares, $mvertex_base, $mzero, 3
        ld32    $partials, $mvertex_base, $mzero, 0
        ld32    $dots, $mvertex_base, $mzero, 1
        shl     $bytes, $shares, 2
        mul     $spare, $bytes, $index
        add     $dots, $dots, $spare
        shl     $spare, $spare, 1
        add     $partials, $partials, $spare
        { mul   $bytes, $bytes, CTXT_WORKERS ; fnop }
.Lrow:
        { ld32  $all, $partials, $mzero, 0 ; fnop }
        { mov   $from, $partials ; mov $a0, $all }
        { rpt   $shares, 0 ; zero $a4:5 }
.Lall:
        { ld64step $a0:1, $mzero, $from+=, 1 ; f32max $all, $all, $a0 }
.Lend_all:
        { mov   $from, $partials ; f32max $all, $all, $a0 }
        { rpt   $shares, 3 ; zero $dot }
.Lpart:
        { ld64step $a0:1, $mzero, $from+=, 1 ; f32add $sum, $sum, $product }
        { nop   ; f32sub $a0, $a0, $all }
        { nop   ; f32exp $a0, $a0 }
        { nop   ; f32mul $product, $a0, $a1 }
.Lend_part:
        { mov   $from, $dots ; f32add $sum, $sum, $product }
        { rpt   $shares, 0 ; zero $a0 }
.Ldot:
        { ld32step $a0, $mzero, $from+=, 1 ; f32add $dot, $dot, $a0 }
.Lend_dot:
        { add   $dots, $dots, $bytes ; f32add $dot, $dot, $a0 }
        { add   $partials, $partials, $bytes ; f32ln $sum, $sum }
        { add   $partials, $partials, $bytes ; f32add $sum, $sum, $all }
        { add   $rows, $rows, -CTXT_WORKERS ; f32add $sum, $sum, $dot }
        { brpos $rows, .Lrow ; f32add $total, $total, $sum }
.Ldone:
        ld32    $spare, $mvertex_base, $mzero, 4
        zero    $a0:1
        mov     $a0, $total
        st64    $a0:1, $spare, $mzero, $index
        exitz   $mzero
