// SPDX-License-Identifier: MIT
// Moves items from one regular row of places to another, one item a round.
//
// Vertices rearrange_strided8, rearrange_strided16 (one worker), for items of 8 and 16 bytes. State, words:
//     0 from, 1 to      8-byte aligned
//     2, 3              from item to item, in words of 8 bytes: of `from`, of `to`
//     4                 items - 1
// Timing, worker issues with n items: 6 + 3 n (8 bytes), 8 + 5 n (16 bytes).
// Source: docs/evidence.md#halo-copies.

        .section .text.rearrange_strided8, "ax"
        .worker
        .align 8
        .globl rearrange_strided8
rearrange_strided8:
        ld32    $m0, $mvertex_base, $mzero, 0
        ld32    $m1, $mvertex_base, $mzero, 1
        ld32    $m2, $mvertex_base, $mzero, 2
        ld32    $m3, $mvertex_base, $mzero, 3
        ld32    $m4, $mvertex_base, $mzero, 4
.Litem8:
        ld64step $a0:1, $mzero, $m0+=, $m2
        st64step $a0:1, $mzero, $m1+=, $m3
        brnzdec $m4, .Litem8
.Lend8:
        exitz   $mzero

        .section .text.rearrange_strided16, "ax"
        .worker
        .align 8
        .globl rearrange_strided16
rearrange_strided16:
        ld32    $m0, $mvertex_base, $mzero, 0
        ld32    $m1, $mvertex_base, $mzero, 1
        ld32    $m2, $mvertex_base, $mzero, 2
        ld32    $m3, $mvertex_base, $mzero, 3
        ld32    $m4, $mvertex_base, $mzero, 4
        add     $m2, $m2, -1
        add     $m3, $m3, -1
.Litem16:
        ld64step $a0:1, $mzero, $m0+=, 1
        st64step $a0:1, $mzero, $m1+=, 1
        ld64step $a0:1, $mzero, $m0+=, $m2
        st64step $a0:1, $mzero, $m1+=, $m3
        brnzdec $m4, .Litem16
.Lend16:
        exitz   $mzero
