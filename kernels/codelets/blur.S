// SPDX-License-Identifier: MIT
// 3 x 3 binomial stencil over pixels of four channels, as the loop that a compiler writes for
//
//     out = (nw + ne + sw + se) / 16 + (n + w + e + s) / 8 + centre / 4
//
//   blur_half4    a pixel a round: one vector of four FP16
//   blur_float2   a pixel a round: two vectors of two FP32
//   blur_float    a channel a round: FP32
//
// State (multi worker), words:
//     0             bytes from a row of pixels to the next
//     1 + w         list of worker w: rows - 1 (-1: none), then for each row: first window, out, rounds - 1
// Sums and products are rounded to the type of the channels, in the order of the text: from the left, rows from above.
// A vector takes 9 loads, 8 additions, 3 products and a store, nothing bundled; a round moves three row pointers and branches.
// Two vector constants fit beside the three pairs of a sum: the third is made again for each vector.
// Timing, worker issues: rounds * (26 half4, 48 float2, 25 float) + 6 rows + 11 (float 12); 9 without rows.
// Source: docs/evidence.md#blur-loops.

#include "worker_share.inc"

#define list m0
#define rows m1
#define above m2
#define middle m3
#define below m4
#define out m5
#define rounds m6
#define row_bytes m7

.macro START NAME
        .section .text.\NAME, "ax"
        .worker
        .align 8
        .globl \NAME
\NAME:
        WORKER_INDEX $list
        shl     $list, $list, 2
        add     $list, $list, $mvertex_base
        ld32    $list, $list, $mzero, 1
        ld32    $row_bytes, $mvertex_base, $mzero, 0
        ld32step $rows, $mzero, $list+=, 1
        brneg   $rows, .Lend_\NAME
.endm

.macro ROW NAME
.Lrow_\NAME:
        ld32step $above, $mzero, $list+=, 1
        add     $middle, $above, $row_bytes
        add     $below, $middle, $row_bytes
        ld32step $out, $mzero, $list+=, 1
        ld32step $rounds, $mzero, $list+=, 1
.Lround_\NAME:
.endm

.macro END NAME STEP
        add     $above, $above, \STEP
        add     $middle, $middle, \STEP
        add     $below, $below, \STEP
        brnzdec $rounds, .Lround_\NAME
        brnzdec $rows, .Lrow_\NAME
.Lend_\NAME:
        exitz   $mzero
.endm

        // One vector: its pixels stand AT, AT + PIXEL and AT + 2 PIXEL vectors behind each row's pointer.
.macro VECTOR ADD MUL BROADCAST AT PIXEL CONSTANT:vararg
        ld64    $a0:1, $above, $mzero, \AT
        ld64    $a4:5, $above, $mzero, \AT + 2 * \PIXEL
        \ADD   $a0:1, $a0:1, $a4:5
        ld64    $a4:5, $below, $mzero, \AT
        \ADD   $a0:1, $a0:1, $a4:5
        ld64    $a4:5, $below, $mzero, \AT + 2 * \PIXEL
        \ADD   $a0:1, $a0:1, $a4:5
        \MUL   $a0:1, $a6:\BROADCAST, $a0:1
        ld64    $a2:3, $above, $mzero, \AT + \PIXEL
        ld64    $a4:5, $middle, $mzero, \AT
        \ADD   $a2:3, $a2:3, $a4:5
        ld64    $a4:5, $middle, $mzero, \AT + 2 * \PIXEL
        \ADD   $a2:3, $a2:3, $a4:5
        ld64    $a4:5, $below, $mzero, \AT + \PIXEL
        \ADD   $a2:3, $a2:3, $a4:5
        \MUL   $a2:3, $a7:\BROADCAST, $a2:3
        \ADD   $a0:1, $a0:1, $a2:3
        ld64    $a4:5, $middle, $mzero, \AT + \PIXEL
        \CONSTANT
        \MUL   $a4:5, $a2:\BROADCAST, $a4:5
        \ADD   $a0:1, $a0:1, $a4:5
        st64step $a0:1, $mzero, $out+=, 1
.endm

        START blur_half4
        setzi   $a6, 0x2c00             // 1/16
        setzi   $a7, 0x3000             // 1/8
        ROW blur_half4
        VECTOR f16v4add, f16v4mul, BL, 0, 1, setzi $a2, 0x3400
        END blur_half4 8

        START blur_float2
        or      $a6, $azero, 0x3d800000 // 1/16
        or      $a7, $azero, 0x3e000000 // 1/8
        ROW blur_float2
        VECTOR f32v2add, f32v2mul, B, 0, 2, or $a2, $azero, 0x3e800000
        VECTOR f32v2add, f32v2mul, B, 1, 2, or $a2, $azero, 0x3e800000
        END blur_float2 16

        START blur_float
        or      $a5, $azero, 0x3d800000 // 1/16
        or      $a6, $azero, 0x3e000000 // 1/8
        or      $a7, $azero, 0x3e800000 // 1/4
        ROW blur_float
        ld32    $a0, $above, $mzero, 0
        ld32    $a2, $above, $mzero, 8
        f32add  $a0, $a0, $a2
        ld32    $a2, $below, $mzero, 0
        f32add  $a0, $a0, $a2
        ld32    $a2, $below, $mzero, 8
        f32add  $a0, $a0, $a2
        f32mul  $a0, $a5, $a0
        ld32    $a1, $above, $mzero, 4
        ld32    $a2, $middle, $mzero, 0
        f32add  $a1, $a1, $a2
        ld32    $a2, $middle, $mzero, 8
        f32add  $a1, $a1, $a2
        ld32    $a2, $below, $mzero, 4
        f32add  $a1, $a1, $a2
        f32mul  $a1, $a6, $a1
        f32add  $a0, $a0, $a1
        ld32    $a2, $middle, $mzero, 4
        f32mul  $a2, $a7, $a2
        f32add  $a0, $a0, $a2
        st32step $a0, $mzero, $out+=, 1
        END blur_float 4
