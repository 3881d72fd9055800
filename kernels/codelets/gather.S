// SPDX-License-Identifier: MIT
// Builds words of two FP16 elements each from elements that stand anywhere.
//
// Vertex gather16 (multi worker). State, words:
//     0 from            4-byte aligned
//     1 to              4-byte aligned; overlaps neither `from` nor the list
//     2 list            4-byte aligned; a half for each element of `to`: which element of `from` comes there
//     3 words / workers, 4 words % workers
// A worker has at most one word more than a repeat counts; the caller deals with what is longer (plan/repeat_limit.h).
// Timing, worker issues with n words: 20 + 5 n; without words 14.
// Source: docs/evidence.md#instruction-set.

#include "worker_share.inc"

#define from m0
#define to m1
#define list m2
#define low m3
#define high m4

        .section .text.gather16, "ax"
        .worker
        .align 8
        .globl gather16
gather16:
        WORKER_INDEX
        ld32    $from, $mvertex_base, $mzero, 0
        ld32    $to, $mvertex_base, $mzero, 1
        ld32    $list, $mvertex_base, $mzero, 2
        WORKER_SHARE 3
        brz     $m6, .Lnothing
.Lsome_words:
        shl     $m11, $m11, 2
        add     $to, $to, $m11
        add     $list, $list, $m11
        { add   $m6, $m6, -1 ; fnop }
        ldz16step $low, $mzero, $list+=, 1
        ldz16step $high, $mzero, $list+=, 1
        ldb16   $a0, $from, $mzero, $low
        ldb16   $a1, $from, $mzero, $high
        { rpt   $m6, 4 ; fnop }
.Lword:
        { ldz16step $low, $mzero, $list+=, 1 ; sort4x16lo $a2, $a0, $a1 }
        { ldz16step $high, $mzero, $list+=, 1 ; fnop }
        { ldb16 $a0, $from, $mzero, $low ; fnop }
        { ldb16 $a1, $from, $mzero, $high ; fnop }
        { st32step $a2, $mzero, $to+=, 1 ; fnop }
.Lend:
        sort4x16lo $a2, $a0, $a1
        st32step $a2, $mzero, $to+=, 1
.Lnothing:
        exitz   $mzero
