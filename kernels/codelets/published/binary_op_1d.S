// SPDX-License-Identifier: MIT
// Element-wise operations of two arrays, six workers: out[i] = in1[i] op in2[i].
//
//   BinaryOp1D_<add | multiply>_<half | float>
//   BinaryOp1D_divide_<half | float>: elements a multiple of 4 or 2
//   BinaryOp1DInPlace_<add | multiply>_<half | float>: the result replaces in1
//
// State: pointer in1, pointer in2, (not in place) pointer out, all 8-byte aligned; u32 elements: any number.
// Worker w takes the 8-byte words w, w + 6, ...; the worker whose turn it would be also takes the elements of a last
// incomplete word and keeps what stands behind them. One word of a worker is read beyond the last.
// Timing, worker issues with n = words of the worker: 3n; division 21n (half) and 10n (float).
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "vector_work.h"

#define in1 m0
#define in2 m1
#define out m2
#define words m3
#define worker m4
#define scratch m5
#define rest m6
#define elements m7

#define x a0:1
#define y a2:3
#define z a4:5
#define z_0 a4
#define z_1 a5
#define keep_0 a6

#define OP_add_half f16v4add
#define OP_add_float f32v2add
#define OP_multiply_half f16v4mul
#define OP_multiply_float f32v2mul

#define BINARY(NAME, TYPE) \
    BINARY_OP BinaryOp1D NAME TYPE OP_##NAME##_##TYPE LOG2_WORD_ELEMENTS_##TYPE 0; \
    BINARY_OP BinaryOp1DInPlace NAME TYPE OP_##NAME##_##TYPE LOG2_WORD_ELEMENTS_##TYPE 1

.macro BINARY_OP VERTEX NAME TYPE OP LOG2_WORD_ELEMENTS IN_PLACE
WORKER_FUNCTION \VERTEX\()_\NAME\()_\TYPE
.equ VERTEX_OUT, 2 * (1 - (\IN_PLACE))
.equ VERTEX_ELEMENTS, 3 - (\IN_PLACE)
    GET_WORKER  $worker
    ld32        $elements, $mvertex_base, VERTEX_ELEMENTS
    ld32        $in1, $mvertex_base, 0
    ld32        $in2, $mvertex_base, 1
    ld32        $out, $mvertex_base, VERTEX_OUT
    shr         $words, $elements, \LOG2_WORD_ELEMENTS
    SHARE_OF_WORKER $words $words $worker $scratch
    shl         $scratch, $worker, 3
    add         $in1, $in1, $scratch
    add         $in2, $in2, $scratch
    add         $out, $out, $scratch
    ld64step    $x, $mzero, $in1+=, CTXT_WORKERS
    ld64step    $y, $mzero, $in2+=, CTXT_WORKERS
    .align 8
    { rpt       $words, (2f - 1f) / 8 - 1
      fnop }
1:
    { ld64step  $x, $mzero, $in1+=, CTXT_WORKERS
      \OP       $z, $x, $y }
    { ld64step  $y, $mzero, $in2+=, CTXT_WORKERS
      fnop }
    { st64step  $z, $mzero, $out+=, CTXT_WORKERS
      fnop }
2:
    // $x and $y hold the word behind the last full one of this worker: is it the incomplete one?
    and         $rest, $elements, (1 << \LOG2_WORD_ELEMENTS) - 1
    brz         $rest, .Lend\@
    mul         $words, $words, CTXT_WORKERS
    add         $words, $words, $worker
    shr         $elements, $elements, \LOG2_WORD_ELEMENTS
    cmpeq       $words, $words, $elements
    brz         $words, .Lend\@
    \OP         $z, $x, $y
.if \LOG2_WORD_ELEMENTS == 1
    st32        $z_0, $out, $mzero, 0
.else
    cmpeq       $scratch, $rest, 1
    brnz        $scratch, .Lone\@
    st32step    $z_0, $mzero, $out+=, 1
    cmpeq       $scratch, $rest, 2
    brnz        $scratch, .Lend\@
    mov         $z_0, $z_1
.Lone\@:
    // only the lower half-word is ours
    ld32        $keep_0, $out, $mzero, 0
    sort4x16hi  $z_0, $z_0:BL, $keep_0
    st32        $z_0, $out, $mzero, 0
.endif
.Lend\@:
    exitz       $mzero
.endm

#define x_0 a0
#define x_1 a1
#define y_0 a2
#define y_1 a3
#define quotients a4:7
#define divisor a6:7
#define divisor_0 a6
#define divisor_1 a7
#define DIVIDE_OUT 2
#define DIVIDE_ELEMENTS 3

.macro DIVIDE TYPE LOG2_WORD_ELEMENTS
WORKER_FUNCTION BinaryOp1D_divide_\TYPE
    GET_WORKER  $worker
    ld32        $words, $mvertex_base, DIVIDE_ELEMENTS
    ld32        $in1, $mvertex_base, 0
    ld32        $in2, $mvertex_base, 1
    ld32        $out, $mvertex_base, DIVIDE_OUT
    shr         $words, $words, \LOG2_WORD_ELEMENTS
    SHARE_OF_WORKER $words $words $worker $scratch
    shl         $scratch, $worker, 3
    add         $in1, $in1, $scratch
    add         $in2, $in2, $scratch
    add         $out, $out, $scratch
    bri         2f
1:
    ld64step    $x, $mzero, $in1+=, CTXT_WORKERS
    ld64step    $y, $mzero, $in2+=, CTXT_WORKERS
.ifc \TYPE, half
    f16v2tof32  $z, $x_0
    f16v2tof32  $x, $x_1
    f16v2tof32  $divisor, $y_0
    f32div      $z_0, $z_0, $divisor_0
    f32div      $z_1, $z_1, $divisor_1
    f16v2tof32  $divisor, $y_1
    f32div      $divisor_0, $x_0, $divisor_0
    f32div      $divisor_1, $x_1, $divisor_1
    f32v4tof16  $z, $quotients
.else
    f32div      $z_0, $x_0, $y_0
    f32div      $z_1, $x_1, $y_1
.endif
    st64step    $z, $mzero, $out+=, CTXT_WORKERS
2:
    brnzdec     $words, 1b
    exitz       $mzero
.endm

BINARY(add, half)
BINARY(add, float)
BINARY(multiply, half)
BINARY(multiply, float)
DIVIDE half LOG2_WORD_ELEMENTS_half
DIVIDE float LOG2_WORD_ELEMENTS_float

#endif
