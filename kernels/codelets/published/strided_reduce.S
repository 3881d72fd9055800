// SPDX-License-Identifier: MIT
// Reductions of columns by one worker: out[i] = op over o and p of in[o * outer + p * stride + i].
//
//   StridedReduce_<add_float | max_float | add_half | max_half>
//
// State: pointer out, pointer in (both 8-byte aligned); u16 partials - 1, outputs in 8-byte words - 1, stride in 8-byte words,
// outer strides - 1; u32 bytes from the end of one outer stride to the next, added to a pointer that stands behind the last
// partial. FP32 sums are in the accumulators.
// Timing, worker issues a word of outputs with p partials and one outer stride: add_float 10 + p, max 9 + p, add_half 11 + p.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "vector_work.h"

#define VERTEX_OUT 0
#define VERTEX_IN 1
#define VERTEX_PARTIALS_M1 4
#define VERTEX_WORDS_M1 5
#define VERTEX_STRIDE 6
#define VERTEX_OUTER_M1 7
#define VERTEX_OUTER_STRIDE 4

#define F32_MINUS_INFINITY 0xff800000
#define ZAACC_BITMASK (CSR_W_FP_CLR__ZAACC__MASK << CSR_W_FP_CLR__ZAACC__SHIFT)

#define out m0
#define in m1
#define partials_m1 m2
#define words_m1 m3
#define stride m4
#define outer_m1 m5
#define outer_stride m6
#define partial m7
#define outers m8

#define x a0:1
#define upper a2:3
#define result a4:5
#define result_0 a4
#define lowest_0 a6
#define lowest_1 a7

// In quotes registers go by their own names, since the preprocessor leaves strings alone: x is $a0:1, $a2:3 zeros.
// INIT: before the first partial; OP: takes in $x; FINISH0, FINISH1: bring the result to $result.
.macro STRIDED_REDUCE NAME INIT OP FINISH0 FINISH1
WORKER_FUNCTION StridedReduce_\NAME
    { ld32      $out, $mvertex_base, VERTEX_OUT ; setzi $result_0, ZAACC_BITMASK }
    { ld32      $in, $mvertex_base, VERTEX_IN ; uput $FP_CLR, $result_0 }
    { ldz16     $partials_m1, $mvertex_base, $mzero, VERTEX_PARTIALS_M1 ; zero $upper }
    { ldz16     $words_m1, $mvertex_base, $mzero, VERTEX_WORDS_M1 ; or $lowest_0, $azero, F32_MINUS_INFINITY }
    { ldz16     $stride, $mvertex_base, $mzero, VERTEX_STRIDE ; or $lowest_1, $azero, F32_MINUS_INFINITY }
.ifc \NAME, max_half
    { nop ; setzi $lowest_0, 0xfc00 }
    { nop ; sort4x16lo $lowest_0, $lowest_0, $lowest_0 }
    { nop ; mov $lowest_1, $lowest_0 }
.endif
    ldz16       $outer_m1, $mvertex_base, $mzero, VERTEX_OUTER_M1
    ld32        $outer_stride, $mvertex_base, VERTEX_OUTER_STRIDE
    .align 8
.Lword_\NAME:
    mov         $partial, $in
    { mov       $outers, $outer_m1 ; \INIT }
.Louter_\NAME:
    ld64step    $x, $mzero, $partial+=, $stride
    { rpt       $partials_m1, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld64step  $x, $mzero, $partial+=, $stride ; \OP }
2:
    \OP
    add         $partial, $partial, $outer_stride
    brnzdec     $outers, .Louter_\NAME
.ifnb \FINISH0
    \FINISH0
.endif
.ifnb \FINISH1
    \FINISH1
.endif
    st64step    $result, $mzero, $out+=, 1
    add         $in, $in, 8
    brnzdec     $words_m1, .Lword_\NAME
    exitz       $mzero
.endm

STRIDED_REDUCE add_float "fnop" "f32v4acc $a0:3" "f32v2gina $a4:5, $azeros, 0"
STRIDED_REDUCE max_float "mov $a4:5, $a6:7" "f32v2max $a4:5, $a4:5, $a0:1"
STRIDED_REDUCE add_half "fnop" "f16v4acc $a0:1" "f16v2gina $a4, $azero, 0" "f16v2gina $a5, $azero, 0"
STRIDED_REDUCE max_half "mov $a4:5, $a6:7" "f16v4max $a4:5, $a4:5, $a0:1"

#endif
