// SPDX-License-Identifier: MIT
// Puts words that stand anywhere into one run.
//
// Vertex gather32 (multi worker). State, words:
//     0 from            4-byte aligned
//     1 to              4-byte aligned; overlaps neither `from` nor the list
//     2 list            4-byte aligned; a half for each word of `to`: which word of `from` comes there
//     3 words / workers, 4 words % workers
// A worker has at most one word more than a repeat counts; the caller deals with what is longer (plan/repeat_limit.h).
// Timing, worker issues with n words: 19 + 3 n; without words 14.
// Source: docs/evidence.md#instruction-set.

#include "worker_share.inc"

#define from m0
#define to m1
#define list m2
#define at m3

        .section .text.gather32, "ax"
        .worker
        .align 8
        .globl gather32
gather32:
        WORKER_INDEX
        ld32    $from, $mvertex_base, $mzero, 0
        ld32    $to, $mvertex_base, $mzero, 1
        ld32    $list, $mvertex_base, $mzero, 2
        WORKER_SHARE 3
        brz     $m6, .Lnothing
.Lsome_words:
        shl     $m10, $m11, 1
        add     $list, $list, $m10
        shl     $m11, $m11, 2
        { add   $to, $to, $m11 ; fnop }
        { rpt   $m6, 2 ; fnop }
.Lword:
        { ldz16step $at, $mzero, $list+=, 1 ; fnop }
        { ld32  $a0, $from, $mzero, $at ; fnop }
        { st32step $a0, $mzero, $to+=, 1 ; fnop }
.Lnothing:
        exitz   $mzero
