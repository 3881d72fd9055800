// SPDX-License-Identifier: MIT
// A polynomial of each element by Horner's rule, one worker, unrolled by the assembler: no constant is loaded from memory.
//
//   Polynomial_float: out[i] = 2 x^4 - 3 x^3 + x^2 + 5 x - 7
//   Powers_half: out[i] = x^8, by squaring
//
// State: pointer in, pointer out (8-byte aligned), u32 elements: a multiple of 2 (float) or 4 (half).
// Timing, worker issues an 8-byte word: 15 and 5.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "vector_work.h"

#define in m0
#define out m1
#define words m2

#define x a0:1
#define y a2:3
#define leading a4
#define next a5

#define F32_5 0x40a00000
#define F32_1 0x3f800000
#define F32_MINUS_3 0xc0400000
#define F32_MINUS_7 0xc0e00000
#define F32_2 0x40000000

WORKER_FUNCTION Polynomial_float
    ld32        $in, $mvertex_base, 0
    ld32        $out, $mvertex_base, 1
    ld32        $words, $mvertex_base, 2
    { shr       $words, $words, 1 ; or $leading, $azero, F32_2 }
    bri         2f
1:
    ld64step    $x, $mzero, $in+=, 1
    f32v2mul    $y, $leading:B, $x
.irp coefficient, F32_MINUS_3, F32_1, F32_5
    or          $next, $azero, \coefficient
    f32v2add    $y, $next:B, $y
    f32v2mul    $y, $x, $y
.endr
    or          $next, $azero, F32_MINUS_7
    f32v2add    $y, $next:B, $y
    st64step    $y, $mzero, $out+=, 1
2:
    brnzdec     $words, 1b
    exitz       $mzero

#define LOG2_POWER 3

WORKER_FUNCTION Powers_half
    ld32        $in, $mvertex_base, 0
    ld32        $out, $mvertex_base, 1
    ld32        $words, $mvertex_base, 2
    shr         $words, $words, 2
    .align 8
    { rpt       $words, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld64step  $x, $mzero, $in+=, 1 ; fnop }
.rept LOG2_POWER
    { nop ; f16v4mul $x, $x, $x }
.endr
    { st64step  $x, $mzero, $out+=, 1 ; fnop }
2:
.if (2b - 1b) != 8 * (LOG2_POWER + 2)
.error "the loop is as long as its unrolling says"
.endif
    exitz       $mzero

#endif
