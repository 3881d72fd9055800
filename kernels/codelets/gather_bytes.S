// SPDX-License-Identifier: MIT
// Builds words of four elements of one byte each from elements that stand anywhere.
//
// Vertex gather8 (multi worker). State as gather16 has it (gather.S).
// Timing, worker issues with n words: 19 + 12 n; without words 14.
// Source: docs/evidence.md#instruction-set.

#include "worker_share.inc"

#define from m0
#define to m1
#define list m2
#define low m3
#define high m4

        .section .text.gather8, "ax"
        .worker
        .align 8
        .globl gather8
gather8:
        WORKER_INDEX
        ld32    $from, $mvertex_base, $mzero, 0
        ld32    $to, $mvertex_base, $mzero, 1
        ld32    $list, $mvertex_base, $mzero, 2
        WORKER_SHARE 3
        brz     $m6, .Lno_bytes
.Lsome_bytes:
        shl     $m11, $m11, 2
        add     $to, $to, $m11
        add     $list, $list, $m11
        { add   $list, $list, $m11 ; fnop }
        { rpt   $m6, 11 ; fnop }
.Lbytes:
        { ldz16step $low, $mzero, $list+=, 1 ; fnop }
        { ldz16step $high, $mzero, $list+=, 1 ; fnop }
        { ldz8  $low, $from, $mzero, $low ; fnop }
        { ldz8  $high, $from, $mzero, $high ; fnop }
        { shuf8x8lo $m5, $low, $high ; fnop }
        { ldz16step $low, $mzero, $list+=, 1 ; fnop }
        { ldz16step $high, $mzero, $list+=, 1 ; fnop }
        { ldz8  $low, $from, $mzero, $low ; fnop }
        { ldz8  $high, $from, $mzero, $high ; fnop }
        { shuf8x8lo $low, $low, $high ; fnop }
        { sort4x16lo $m5, $m5, $low ; fnop }
        { st32step $m5, $mzero, $to+=, 1 ; fnop }
.Lno_bytes:
        exitz   $mzero
