// SPDX-License-Identifier: MIT
// 3 x 3 stencil over pixels of four channels: out = sum over nine taps of weight * in, in the order of the taps.
//
//   blur_half4    a pixel a round: one vector of four FP16
//   blur_float2   a pixel a round: two vectors of two FP32
//   blur_float    a channel a round: FP32, as a compiler writes the loop over single elements
//
// State (multi worker), words:
//     0 offsets     nine byte offsets of 16 bits from the window's first pixel, each a tap's
//     1 weights     nine, FP16 or FP32
//     2 + w         list of worker w: rows - 1 (-1: none), then for each row: first window, out, rounds - 1
// Products and sums are rounded to the type of the channels.
// Timing, worker issues: rounds * (61 half4, 99 float2, 52 float) + 4 rows + 10; 10 without rows.
// Source: docs/evidence.md#blur-loops.

#include "worker_share.inc"

#define list m0
#define rows m1
#define window m2
#define out m3
#define rounds m4
#define offsets m5
#define weights m6
#define taps m7
#define offset m8
#define from m9
#define first_offset m10
#define first_weight m11
#define weight a6

.macro START NAME
        .section .text.\NAME, "ax"
        .worker
        .align 8
        .globl \NAME
\NAME:
        WORKER_INDEX $list
        shl     $list, $list, 2
        add     $list, $list, $mvertex_base
        ld32    $list, $list, $mzero, 2
        ld32    $first_offset, $mvertex_base, $mzero, 0
        ld32    $first_weight, $mvertex_base, $mzero, 1
        ld32step $rows, $mzero, $list+=, 1
        brneg   $rows, .Lend_\NAME
.Lrow_\NAME:
        ld32step $window, $mzero, $list+=, 1
        ld32step $out, $mzero, $list+=, 1
        ld32step $rounds, $mzero, $list+=, 1
.Lround_\NAME:
        mov     $offsets, $first_offset
        mov     $weights, $first_weight
        setzi   $taps, 8
.endm

.macro END NAME STEP
        add     $window, $window, \STEP
        brnzdec $rounds, .Lround_\NAME
        brnzdec $rows, .Lrow_\NAME
.Lend_\NAME:
        exitz   $mzero
.endm

        START blur_half4
        zero    $a0:1
1:
        ldz16step $offset, $mzero, $offsets+=, 1
        ldb16step $weight, $mzero, $weights+=, 1
        ld64    $a2:3, $window, $offset, 0
        f16v4mul $a2:3, $weight:BL, $a2:3
        f16v4add $a0:1, $a0:1, $a2:3
        brnzdec $taps, 1b
        st64step $a0:1, $mzero, $out+=, 1
        END blur_half4 8

        START blur_float2
        zero    $a0:1
        zero    $a2:3
1:
        ldz16step $offset, $mzero, $offsets+=, 1
        add     $from, $window, $offset
        ld32step $weight, $mzero, $weights+=, 1
        ld64    $a4:5, $from, $mzero, 0
        f32v2mul $a4:5, $weight:B, $a4:5
        f32v2add $a0:1, $a0:1, $a4:5
        ld64    $a4:5, $from, $mzero, 1
        f32v2mul $a4:5, $weight:B, $a4:5
        f32v2add $a2:3, $a2:3, $a4:5
        brnzdec $taps, 1b
        st64step $a0:1, $mzero, $out+=, 1
        st64step $a2:3, $mzero, $out+=, 1
        END blur_float2 16

        START blur_float
        zero    $a0
1:
        ldz16step $offset, $mzero, $offsets+=, 1
        ld32step $weight, $mzero, $weights+=, 1
        ld32    $a1, $window, $offset, 0
        f32mul  $a1, $weight, $a1
        { brnzdec $taps, 1b ; f32add $a0, $a0, $a1 }
        st32step $a0, $mzero, $out+=, 1
        END blur_float 4
