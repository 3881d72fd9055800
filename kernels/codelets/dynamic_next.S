// SPDX-License-Identifier: MIT
// The next thing that buckets do which travel: a code of a list becomes the words that the control program looks at.
//
// Vertex dynamic_next (worker). State, words: 0 words, 4-byte aligned:
//     0..4   1 or 0: there is something to do, it is a scan, along x, from the second buffer, from home
//     5      number of the next code
//     6..    codes, a word each, bits as the words 0..4 in their order; the last one is 0, and the first comes behind it
// Timing, worker issues: 20; 21 for the last code.
// Source: docs/published_plans.md#buckets.

#define words m0
#define number m1
#define code m2
#define bit m3

        .section .text.dynamic_next, "ax"
        .worker
        .align 8
        .globl dynamic_next
dynamic_next:
        ld32    $words, $mvertex_base, $mzero, 0
        ld32    $number, $words, $mzero, 5
        add     $m4, $number, 6
        shl     $m4, $m4, 2
        ld32    $code, $words, $m4, 0
        add     $number, $number, 1
        brnz    $code, .Lsome
        mov     $number, $mzero
.Lsome:
        st32    $number, $words, $mzero, 5
.Lbits:
        and     $bit, $code, 1
        st32    $bit, $words, $mzero, 0
        shr     $code, $code, 1
        and     $bit, $code, 1
        st32    $bit, $words, $mzero, 1
        shr     $code, $code, 1
        and     $bit, $code, 1
        st32    $bit, $words, $mzero, 2
        shr     $code, $code, 1
        and     $bit, $code, 1
        st32    $bit, $words, $mzero, 3
        shr     $code, $code, 1
        st32    $code, $words, $mzero, 4
        exitz   $mzero
