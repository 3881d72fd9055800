// SPDX-License-Identifier: MIT
// y = a * x + b * y by the accumulators, six workers launched by a supervisor.
//
//   ScaledAdd_float (b = 1, f32v2axpy), AXPlusBY_half (f16v4mix)
//
// State: pointer x, pointer y (8-byte aligned; y in interleaved memory, x in another element), u32 8-byte words, word of scales:
// a as FP32, or a and b as FP16 (a in the lower half). Workers take neighbouring words, all as many but the last ones.
// Timing, worker issues with n = words of the worker, at least 3: n and a constant; else 7n and a constant.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "vector_work.h"

#define VERTEX_X 0
#define VERTEX_Y 1
#define VERTEX_WORDS 2
#define VERTEX_SCALES 3

// supervisor
#define state m0
#define worker_entry m1

// worker
#define x_ptr m0
#define y_ptr m1
#define words m2
#define worker_id m3
#define share m4
#define left m5
#define triple m6:7

#define xy a0:3
#define x a0:1
#define y a2:3
#define result a4:5
#define scales a6

.macro SCALED_ADD NAME OP
DEF_STACK_USAGE 0 .text.\NAME
    .section .text.\NAME, "ax"
    .globl \NAME
    .type \NAME, @function
    .supervisor
    .align 8
\NAME:
    setzi       $worker_entry, .Lworker_\NAME
    runall      $worker_entry, $state, 0
    sync        TEXCH_SYNCZONE_LOCAL
    br          $lr

    .worker
    .align 8
.Lworker_\NAME:
    GET_WORKER  $worker_id
    ld32        $words, $mvertex_base, VERTEX_WORDS
    // words a worker, rounded up
    add         $share, $words, CTXT_WORKERS - 1
    setzi       $left, RECIPROCAL_OF_WORKERS
    mul         $share, $share, $left
    shr         $share, $share, RECIPROCAL_SHIFT
    mul         $worker_id, $worker_id, $share
    sub         $left, $words, $worker_id
    min         $share, $share, $left
    cmpslt      $left, $mzero, $share
    { brz       $left, .Lend_\NAME ; fnop }
    { ld32      $scales, $mvertex_base, VERTEX_SCALES ; fnop }
    { ld32      $x_ptr, $mvertex_base, VERTEX_X ; uput $TAS, $scales }
    ld32        $y_ptr, $mvertex_base, VERTEX_Y
    shl         $worker_id, $worker_id, 3
    add         $x_ptr, $x_ptr, $worker_id
    add         $y_ptr, $y_ptr, $worker_id
    cmpult      $left, $share, 3
    brnz        $left, .Lshort_\NAME
    // one instruction gives the result of the one before, so the store is three words behind the load of y
    tapack      $triple, $x_ptr, $y_ptr, $y_ptr
    add         $share, $share, -3
    { ld2x64pace $x, $y, $triple+=, $mzero, 0b0000 ; fnop }
    { ld2x64pace $x, $y, $triple+=, $mzero, 0b0000 ; \OP $result, $x, $y }
    { ld2x64pace $x, $y, $triple+=, $mzero, 0b0000 ; \OP $result, $x, $y }
    .align 8
    { rpt       $share, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld2xst64pace $xy, $result, $triple+=, $mzero, 0b000000 ; \OP $result, $x, $y }
2:
    // no load any more: behind the last word begins another worker's share
    { st64pace  $result, $triple+=, $mzero, 0b00 ; \OP $result, $x, $y }
    { st64pace  $result, $triple+=, $mzero, 0b00 ; \OP $result, $x, $y }
    st64pace    $result, $triple+=, $mzero, 0b00
    exitz       $mzero
.Lshort_\NAME:
    ld64step    $x, $mzero, $x_ptr+=, 1
    add         $share, $share, -1
    ld64        $y, $y_ptr, $mzero, 0
    \OP         $result, $x, $y
    \OP         $result, $x, $y
    st64step    $result, $mzero, $y_ptr+=, 1
    brnz        $share, .Lshort_\NAME
.Lend_\NAME:
    exitz       $mzero
.endm

SCALED_ADD ScaledAdd_float f32v2axpy
SCALED_ADD AXPlusBY_half f16v4mix

#endif
