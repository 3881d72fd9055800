// SPDX-License-Identifier: MIT
// The loss of a sum of squares and its derivative, one worker: delta[i] = p[i] - e[i], loss[i] = delta[i]^2 / 2.
//
//   LossSumSquaredTransform_<half | float>
//
// State: pointers p, e, delta, loss (8-byte aligned), u32 elements: a multiple of 4 (half) or 2 (float).
// Timing, worker issues an 8-byte word: 8.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "vector_work.h"

#define p_ptr m0
#define e_ptr m1
#define delta_ptr m2
#define loss_ptr m3
#define words m4

#define p a0:1
#define e a2:3
#define delta a4:5
#define half_of_it a6

#define SUB_half f16v4sub
#define SUB_float f32v2sub
#define MUL_half f16v4mul
#define MUL_float f32v2mul
#define BROADCAST_half BL
#define BROADCAST_float B
#define ONE_HALF_half 0x3800
#define ONE_HALF_float 0x3f000000

#define LOSS(TYPE) \
    LOSS_SUM_SQUARED TYPE SUB_##TYPE MUL_##TYPE BROADCAST_##TYPE ONE_HALF_##TYPE LOG2_WORD_ELEMENTS_##TYPE

.macro LOSS_SUM_SQUARED TYPE SUB MUL BROADCAST ONE_HALF LOG2_WORD_ELEMENTS
WORKER_FUNCTION LossSumSquaredTransform_\TYPE
    ld32        $words, $mvertex_base, 4
    ld32        $p_ptr, $mvertex_base, 0
    ld32        $e_ptr, $mvertex_base, 1
    ld32        $delta_ptr, $mvertex_base, 2
    ld32        $loss_ptr, $mvertex_base, 3
    shr         $words, $words, \LOG2_WORD_ELEMENTS
    ldconst     $half_of_it, \ONE_HALF
    bri         2f
1:
    ld64step    $p, $mzero, $p_ptr+=, 1
    ld64step    $e, $mzero, $e_ptr+=, 1
    \SUB        $delta, $p, $e
    st64step    $delta, $mzero, $delta_ptr+=, 1
    \MUL        $p, $half_of_it:\BROADCAST, $delta
    \MUL        $p, $p, $delta
    st64step    $p, $mzero, $loss_ptr+=, 1
2:
    brnzdec     $words, 1b
    exitz       $mzero
.endm

LOSS(half)
LOSS(float)

#endif
