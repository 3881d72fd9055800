// SPDX-License-Identifier: MIT
// The next thing that buckets do which travel: a code of a list becomes the words that the control program looks at.
//
// Vertex dynamic_next (worker). State, words: 0 words, 4-byte aligned; 1 bits of codes behind which there are others:
//     0..6   1 or 0: there is something to do, it is a scan, along x, from the second buffer, from home, on the way back, along z
//     7      number of the next code
//     8..    codes, a word each, bits as the words 0..6 in their order; behind one that has none of the bits of word 1 comes the first
// Timing, worker issues: 28; 29 for the last code.
// Source: docs/published_plans.md#buckets.

#define BITS 7

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
        ld32    $m5, $mvertex_base, $mzero, 1
        ld32    $number, $words, $mzero, BITS
        add     $m4, $number, BITS + 1
        shl     $m4, $m4, 2
        ld32    $code, $words, $m4, 0
        add     $number, $number, 1
        and     $m5, $code, $m5
        brnz    $m5, .Lsome
        mov     $number, $mzero
.Lsome:
        st32    $number, $words, $mzero, BITS
        and     $bit, $code, 1
        st32    $bit, $words, $mzero, 0
        .irp    number, 1, 2, 3, 4, 5
        shr     $code, $code, 1
        and     $bit, $code, 1
        st32    $bit, $words, $mzero, \number
        .endr
        shr     $code, $code, 1
        st32    $code, $words, $mzero, 6
        exitz   $mzero
